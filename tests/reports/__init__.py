"""Public bug reports, each reproduced in small: with the mistake, and with the fix."""

from reports import labels, loss, rows, text, training

REPORTS = {**labels.REPORTS, **loss.REPORTS, **text.REPORTS, **rows.REPORTS, **training.REPORTS}
