"""A rate as k of n, with the upper end of the one-sided 95 % interval (Clopper and Pearson, 1934)."""


def rate(k: int, n: int) -> dict:
    from scipy.stats import beta

    return {"k": int(k), "n": int(n), "upper_95": 1.0 if k == n else round(float(beta.ppf(0.95, k + 1, n - k)), 4)}


def pooled(measured: dict[str, dict], kind: str) -> dict:
    """The rate of all entries together. ``measured``: entry -> kind -> its rate."""
    return rate(sum(entry[kind]["k"] for entry in measured.values()), sum(entry[kind]["n"] for entry in measured.values()))


def k_of_n(figure: dict) -> str:
    return f"{figure['k']} of {figure['n']} ({figure['k'] / figure['n']:.3f}; 95 % upper bound {figure['upper_95']:.3f})"
