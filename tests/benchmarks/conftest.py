"""Benchmarks are run by `make microbench` alone: they judge nothing, and a test run should not wait for them."""

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    return None if config.getoption("benchmark_enable") else True
