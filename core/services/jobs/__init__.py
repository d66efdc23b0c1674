"""Long work in the background: the queue and its workers. The doors are `jobs.Jobs` and `workers.Workers`."""
