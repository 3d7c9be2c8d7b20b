"""pathfinder: cheapest way through a grid, by dynamic programming.

Built so that it prints the grid and its result (BENCH_PRINT). Reference: the same
search here, integers exactly.
"""
from programs import Program, require

GRID = {"small": (1000, 10), "default": (100000, 100)}      # columns, rows
HEIGHT = {"small": "2", "default": "20"}                    # rows of a launch


def cheapest(grid):
    """Cost of the cheapest way from the first row to each place of the last."""
    costs = grid[0]
    for row in grid[1:]:
        padded = [costs[0], *costs, costs[-1]]
        costs = [cost + min(ways)
                 for cost, ways in zip(row, zip(padded, padded[1:], padded[2:]))]
    return costs


def verify(run):
    columns, rows = GRID[run.size]
    lines = [line.split() for line in run.stdout.splitlines()]
    # The grid's rows, then the first again, then the result.
    lines = [[int(word) for word in line] for line in lines if len(line) == columns]
    require(len(lines) == rows + 2, f"{len(lines)} rows printed, not {rows + 2}")
    require("failed results" not in run.stdout, "differs from the program's own result")
    for column, (got, cost) in enumerate(zip(lines[-1], cheapest(lines[:rows]))):
        require(got == cost, f"column {column} costs {got}, not {cost}")


PROGRAM = Program("pathfinder", "pathfinder", ("pathfinder_hip.cu",),
                  {size: ((str(columns), str(rows), HEIGHT[size]),)
                   for size, (columns, rows) in GRID.items()}, verify, flags=("-DBENCH_PRINT",))
