"""What losses may be told is one table, which commands, links, pages and reports read."""

import pandas as pd
import pytest

from cpp_core import Experiment
from cpp_core.catalog.losses import LOSSES, WITH_SETTINGS, make_loss, settings_of
from cpp_core.catalog.settings import LOSS_SETTINGS
from pages.parts.entries import ENTRIES


def test_the_table_has_all_that_makers_take_and_nothing_else():
    assert {name for loss in WITH_SETTINGS for name in settings_of(loss)} == set(LOSS_SETTINGS)
    assert {own.implies for own in LOSS_SETTINGS.values() if own.implies} <= set(LOSSES)
    for own in LOSS_SETTINGS.values():
        assert not own.implies or own.name in settings_of(own.implies)


@pytest.mark.parametrize("name", [name for name, own in LOSS_SETTINGS.items() if own.label])
def test_a_number_has_the_same_ends_on_a_page_and_in_a_link(name):
    own, loss = LOSS_SETTINGS[name], LOSS_SETTINGS[name].implies
    assert ENTRIES[name].ends == (own.low, own.high)
    usual = settings_of(loss)[name]
    assert own.low <= usual <= own.high
    for end in (own.low, own.high):
        assert make_loss(loss, **{name: end}).unit == ""


def test_words_of_the_user_stay_out_of_what_is_shared():
    frame = pd.DataFrame({"a": range(60), "ill": ["yes", "no"] * 30})
    asked = {"loss": "f1", "variant": "batch", "batch_size": 5}
    secret = {"positive_class": "yes"}
    experiment = Experiment.from_table(frame, target="ill", **asked, loss_settings=secret)
    assert experiment.to_dict()["loss_settings"] == secret
    assert experiment.without_cells()["loss_settings"] == {}


def test_a_setting_that_does_not_count_names_no_other_numbers():
    plain = Experiment(dataset="diabetes", algorithms=("ridge",), loss="absolute_error")
    for name, own in LOSS_SETTINGS.items():
        if own.name in settings_of("absolute_error"):
            told = Experiment(
                dataset="diabetes",
                algorithms=("ridge",),
                loss="absolute_error",
                loss_settings={name: "EUR"},
            )
            same = told.key("ridge", 0) == plain.key("ridge", 0)
            assert same is not own.counts
