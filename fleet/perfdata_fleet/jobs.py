"""Conversion and compaction as jobs of Spark: convert_all(..., run=on_spark(context)). A task that
is lost is done again and writes the same objects."""


def on_spark(context):
    """A function like map(), whose calls are tasks of a SparkContext."""
    def run(function, work):
        work = list(work)
        return context.parallelize(work, max(1, len(work))).map(function).collect()
    return run
