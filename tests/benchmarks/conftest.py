"""Benchmarks, and `floors.py` after them, are run by `make microbench` alone.

They judge nothing, and a test run should not wait for them.
"""

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    return None if config.getoption("benchmark_enable") else True
