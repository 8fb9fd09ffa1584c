"""check_events.py package|server PROGRAM: what TensorBoard reads of the files that PROGRAM writes.

By its Python package or by its HTTP server. Exits with 77 where there is no TensorBoard.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

try:
    import tensorboard
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("skipped: this Python has no TensorBoard")
    sys.exit(77)

LOSSES = [(step, 1 / (step + 1)) for step in range(5)]


def same(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, want {wanted!r}")


def near(what, found, wanted):
    same(f"{what}, steps", [step for step, _ in found], [step for step, _ in wanted])
    for (_, a), (_, b) in zip(found, wanted):
        if abs(a - b) > 1e-7:  # written as float
            sys.exit(f"{what}: {found!r}, want {wanted!r}")


def is_png(what, image):
    if not image.startswith(b"\x89PNG\r\n\x1a\n") or b"IEND" not in image:
        sys.exit(f"{what}: no PNG image")


def read(folder):
    events = EventAccumulator(folder, size_guidance={"tensors": 0})
    events.Reload()
    return events


def check_package(folder):
    events = read(folder)
    near("scalars", [(e.step, e.value) for e in events.Scalars("Train/Loss")], LOSSES)
    histogram = events.Histograms("weights")[0]
    same("step of the histogram", histogram.step, 7)
    value = histogram.histogram_value
    same("histogram", (value.min, value.max, value.num, value.sum, value.sum_squares), (-1, 2.5, 4, 1.5, 7.25))
    same("counts", sorted(count for count in value.bucket if count), [1, 1, 2])
    image = events.Images("picture")[0]
    same("image", (image.step, image.width, image.height), (1, 2, 1))
    is_png("image", image.encoded_image_string)
    text = events.Tensors("note/text_summary")[0]
    same("text", (text.step, text.tensor_proto.string_val[0]), (2, b"hello *world*"))
    for name, value in (("train", 1), ("test", 2)):
        near(name, [(e.step, e.value) for e in read(f"{folder}/both_loss_{name}").Scalars("both/loss")], [(3, value)])
    hparams = read(f"{folder}/first")
    near("metric", [(e.step, e.value) for e in hparams.Scalars("accuracy")], [(0, 0.5)])
    same("hparams", sorted(hparams.summary_metadata),
         ["_hparams_/experiment", "_hparams_/session_end_info", "_hparams_/session_start_info"])


def check_server(folder):
    server = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", "0", "--host", "127.0.0.1",
         "--load_fast", "false"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        lines, address = [], None
        for line in server.stderr:
            lines.append(line)
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            if address:
                break
        if not address:
            sys.exit("the server does not start: " + "".join(lines))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def get(path, data=None, **arguments):
            url = f"{address[0]}/data/plugin/{path}?{urllib.parse.urlencode(arguments)}"
            request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
            with opener.open(request, timeout=60) as answer:
                return answer.read()

        def points(run, tag):
            return [(step, value) for _, step, value in json.loads(get("scalars/scalars", run=run, tag=tag))]

        near("scalars", points(".", "Train/Loss"), LOSSES)
        near("train", points("both_loss_train", "both/loss"), [(3, 1)])
        near("test", points("both_loss_test", "both/loss"), [(3, 2)])
        (_, step, bins), = json.loads(get("histograms/histograms", run=".", tag="weights"))
        same("histogram", (step, sum(count for _, _, count in bins)), (7, 4))
        picture, = json.loads(get("images/images", run=".", tag="picture", sample="0"))
        same("step of the image", picture["step"], 1)
        is_png("image", get("images/individualImage", **dict(urllib.parse.parse_qsl(picture["query"]))))
        note, = json.loads(get("text/text", run=".", tag="note/text_summary"))
        same("text", (note["step"], "<em>world</em>" in note["text"]), (2, True))
        experiment = json.loads(get("hparams/experiment", json.dumps({"experimentName": ""}).encode()))
        same("hparams", sorted((h["name"], h["type"]) for h in experiment["hparamInfos"]),
             [("flip", "DATA_TYPE_BOOL"), ("lr", "DATA_TYPE_FLOAT64"), ("optimizer", "DATA_TYPE_STRING")])
    finally:
        server.terminate()
        server.wait()


def main():
    what, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        {"package": check_package, "server": check_server}[what](folder)
    print(f"TensorBoard {tensorboard.__version__} reads all of it")


if __name__ == "__main__":
    main()
