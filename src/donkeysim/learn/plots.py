"""Pictures of how training went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from donkeysim.tub.histogram import make_figure, save_figure


def plot_losses(history: Mapping[str, Sequence[float]], path: Path, title: str) -> None:
    """Draw the training and the validation loss of every epoch into a PNG file.

    Args:
        history: "loss" and "val_loss", one value per epoch.
        path: Where to; replaced.
        title: Above the plot.

    Raises:
        DonkeySimError: It cannot be written.
    """
    from matplotlib.ticker import MaxNLocator

    epochs = range(1, len(history["loss"]) + 1)
    figure = make_figure((7.0, 4.2))
    axes = figure.add_subplot()
    axes.plot(epochs, history["loss"], color="#8a94a6", marker="o", markersize=3, label="train")
    axes.plot(epochs, history["val_loss"], color="#d1495b", marker="o", markersize=3, label="validate")
    best = min(epochs, key=lambda epoch: history["val_loss"][epoch - 1])
    lowest = history["val_loss"][best - 1]
    axes.plot([best], [lowest], "o", markersize=10, markerfacecolor="none", markeredgecolor="#d1495b")
    axes.annotate(f"best {lowest:.4f}", (best, lowest), xytext=(0, 12), textcoords="offset points", ha="center")
    axes.set(xlabel="epoch", ylabel="loss", title=title, yscale="log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(which="both", color="#e6e8ec", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save_figure(figure, path, dpi=120)
