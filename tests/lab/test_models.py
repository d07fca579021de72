"""The models against published and independently computed values; and against cases that can be worked out by hand."""

from __future__ import annotations

import doctest
import json
import math
from pathlib import Path
from typing import Any

import pytest

from antecede.lab import models

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "literature_values.json"
LOSS, CRASH = 0.05, 0.01
"""Of 001 s3 and of Eugster et al. 2003, s4."""

# (rounds to 99 %, rounds to all) of the lpbcast chain, F = 3: computed independently from the formula of Eugster et
# al. 2003, s4.2.
CHAIN = {125: (5.876543, 6.232845), 250: (6.485696, 7.032518), 500: (7.018318, 7.813574), 1000: (7.523961, 8.589253)}


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(models)
    assert tried > 10 and not failed


@pytest.mark.parametrize("n", [125, 250, 500, 1000])
def test_the_chain_takes_the_rounds_that_were_computed_independently(n: int) -> None:
    spreading = models.chain(n, 3, LOSS, CRASH)
    assert (spreading.rounds_to_most, spreading.rounds_to_all) == pytest.approx(CHAIN[n], abs=1e-5)


def test_a_chain_of_two_is_a_coin() -> None:
    spreading = models.chain(2, 1, loss=0.5)
    assert spreading.all[:4] == pytest.approx((0, 0.5, 0.75, 0.875))
    assert spreading.rounds_to_all == pytest.approx(2)


def test_everybody_is_reached_in_a_round_that_sends_to_all() -> None:
    assert models.chain(10, 9).all == (0.0, 1.0)


def test_what_is_not_certain_has_no_expected_end() -> None:
    assert math.isinf(models.chain(50, 1, rounds=5).rounds_to_all)


def test_sleepers_neither_send_nor_hear() -> None:
    assert models.chain(50, 3, awake=0.5, rounds=6).mean[-1] < models.chain(50, 3, rounds=6).mean[-1]
    assert models.coverage(50, 3, 0, 0, asleep=0.5)[1] == models.chain(50, 3, rounds=6, awake=0.5).mean[-1] / 50


def test_the_recursion_forwards_once_and_loses_some_for_good() -> None:
    mean, everybody, held = models.recursion(50, 5, 0.05, 0.001, 10)  # Birman et al. 1999, the setting of Fig. 4
    assert (mean, everybody) == pytest.approx((49.229896, 0.683996), abs=1e-6)
    assert held.sum() == pytest.approx(1) and held[0] == 0
    assert models.recursion(50, 5, 0.05, 0.001, 40)[1] == pytest.approx(everybody, abs=1e-3)


def test_a_multicast_before_the_recursion_helps() -> None:
    after = models.recursion(100, 3, 0.05, 0.01, 3, multicast_loss=0.05)
    assert after[:2] == pytest.approx((99.706349, 0.747085), abs=1e-6)


def test_more_holders_are_sooner_done_and_brokers_alone_are_slow() -> None:
    rounds = [models.seeded(125, k, 3, LOSS, CRASH).rounds_to_all for k in (1, 4, 16)]
    assert rounds == sorted(rounds, reverse=True) and rounds[1] == pytest.approx(5.155495, abs=1e-5)
    assert models.seeded_only(125, 4, 3, LOSS, CRASH) == pytest.approx(59.735334, abs=1e-4)
    alone = next(k for k in range(1, 125) if models.seeded_only(125, k, 3, LOSS, CRASH) < CHAIN[125][1])
    assert alone == 42


def test_pulling_ends_without_loss_in_one_round() -> None:
    assert models.pulled(1000, 0.0) == (1.0, 1.0)


def test_the_mean_field_never_ends_where_nothing_spreads() -> None:
    assert math.isinf(models.mean_field(100, 0, LOSS, CRASH)[1])


def test_acknowledgements_grow_with_the_group_and_copies_with_loss() -> None:
    assert models.acknowledgements(201, 5, 0.0) == (1000, 1000)
    assert models.acknowledgements(201, 5, 0.5) == (1000, 4000)


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    if not REFERENCE.is_file():
        pytest.skip("the reference values are not on this machine")
    body: dict[str, Any] = json.loads(REFERENCE.read_text("utf-8"))
    return body


def words(key: str) -> dict[str, float]:
    return {name: float(value) for name, _, value in (part.partition("=") for part in key.split(",")) if value}


def test_all_reference_values_of_the_chain(reference: dict[str, Any]) -> None:
    for value in reference["lpbcast"]["exact"].values():
        spreading = models.chain(value["n"], value["F"], LOSS, CRASH)
        assert spreading.rounds_to_most == pytest.approx(value["E_rounds_99"], abs=1e-6)
        assert spreading.rounds_to_all == pytest.approx(value["E_rounds_all"], abs=1e-6)
    for value in reference["lpbcast"]["meanfield"].values():
        rounds = models.mean_field(value["n"], value["F"], LOSS, CRASH)[1]
        assert rounds == pytest.approx(value["rounds_99"], abs=1e-6)


def test_all_reference_values_of_the_recursion(reference: dict[str, Any]) -> None:
    for key, value in reference["pbcast"]["values"].items():
        given = words(key)
        mean, everybody, _ = models.recursion(
            int(given["n"]), given["beta"], given["eps"], given["tau"], int(given["R"]),
            multicast_loss=given.get("IPmc_loss"),
        )  # fmt: skip
        assert (mean, everybody) == pytest.approx((value["E"], value["P_all"]), abs=1e-6)


def test_all_reference_values_of_lifetimes_and_seeds(reference: dict[str, Any]) -> None:
    for value in reference["seed004"]["values"].values():
        rounds, share, everybody = models.coverage(value["n"], value["F"], 0.001, 0.001, asleep=value["rho"])
        assert rounds == value["D"]
        assert (share, everybody) == pytest.approx((value["frac_at_D"], value["P_all_at_D"]), abs=1e-9)
    for key, value in reference["seed001"]["seeded_forwarding"].items():
        given = words(key)
        spreading = models.seeded(int(given["n"]), int(given["k"]), 3, LOSS, CRASH)
        assert spreading.rounds_to_all == pytest.approx(value["E_rounds_all"], abs=1e-6)
    for key, value in reference["push_redundancy_chain"].items():
        rounds, copies = models.push_copies(int(words(key)["n"]), 3, LOSS, CRASH)
        assert rounds == value["rounds"] and copies == pytest.approx(value["received_copies_per_node"], abs=1e-4)
    for key, value in reference["seed004"]["metadata_bytes"].items():
        sizes = models.metadata_bytes(int(key))
        assert (sizes["matrix"], sizes["vector"]) == (value["matrix_8B"], value["vector_8B"])
