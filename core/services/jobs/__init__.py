"""Long work in the background: the queue, who works on it, and how many at once. The doors are `jobs.Jobs` and `workers.Workers`."""
