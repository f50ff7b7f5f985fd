"""What runs the blocks of a prepared race: this process, a process a contestant, or for memory a process a trial."""

from suites.crew import Crew, FreshCrew
from suites.isolation import job_of
from suites.prepare import Prepared
from suites.runner import Runner, Sink


def runner_for(ready: Prepared, sink: Sink, start: int) -> Runner | Crew | FreshCrew:
    """As the settings and the suite ask for; `sink` takes the records, `start` is the number that they bear."""
    contestants, timeout_s = {c.label: c for c in ready.contestants}, ready.settings.timeout_s
    if not (ready.settings.isolate or ready.suite.of_memory):
        return Runner(
            contestants=contestants,
            tasks={task.name: task for task in ready.tasks},
            sink=sink,
            start=start,
            synchronize=ready.synchronize,
            timeout_s=timeout_s,
        )
    given = (ready.placement, ready.registry, ready.tasks, start, timeout_s, ready.memory_bytes)
    jobs = {spec.label: job_of(spec, *given) for spec in ready.specs}
    crew = FreshCrew if ready.suite.of_memory else Crew
    return crew(jobs=jobs, contestants=contestants, sink=sink)
