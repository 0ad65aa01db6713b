"""The Python blocks of the documentation run, and print the text block that follows them."""

import importlib.util
import re
from pathlib import Path

import pytest
import sklearn

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/certificate.md",
    "docs/proof.md",
    "docs/guessing.md",
    "docs/choosing-parameters.md",
    "docs/honest-numbers.md",
    "docs/near-optimal.md",
    "docs/costs-and-policies.md",
    "docs/constraints.md",
    "docs/metrics.md",
    "docs/ranking-and-frontiers.md",
    "docs/rates-and-survival.md",
    "docs/own-task.md",
    "docs/showing.md",
    "docs/exporting.md",
    "docs/watching.md",
    "docs/missing-values.md",
    "docs/categories.md",
    "docs/moments.md",
    "docs/index.md",
    "docs/which-tree.md",
    "docs/tutorials/lender.md",
    "docs/tutorials/clinician.md",
    "docs/tutorials/policy-analyst.md",
    "docs/tutorials/researcher.md",
    "docs/tutorials/engineer.md",
]
OUTPUTS = importlib.util.spec_from_file_location("outputs", ROOT / "docs" / "outputs.py")
outputs = importlib.util.module_from_spec(OUTPUTS)
OUTPUTS.loader.exec_module(outputs)


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    if page == "docs/guessing.md" and sklearn.__version__ < "1.8":
        pytest.skip("older releases of scikit-learn grow other gradient boosting")
    # Some write a file.
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "```text" in text
    assert outputs.refreshed(ROOT / page) == text


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target


def test_the_commands_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install . && certree demo" in text
    assert "./tests/run" in text and (ROOT / "tests" / "run").exists()
