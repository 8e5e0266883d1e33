import ast
import csv
import doctest
import importlib
import inspect
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
from contextlib import redirect_stdout

import numpy

import bntt
import tiny
from bntt import _arrays, _bntt

PROGRAM = os.environ["BNTT_PROGRAM"]
MODULES = ["bntt", "bntt._model", "bntt._training", "bntt._analyses", "bntt._data"]


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def setUpModule():
    unittest.addModuleCleanup(tiny.enter())


class Examples(unittest.TestCase):
    def test_in_the_docstrings_work(self):
        for name in MODULES:
            module = importlib.import_module(name)
            result = doctest.testmod(module, extraglobs={"bntt": bntt, "images": tiny.images(4),
                                                         "settings": tiny.SETTINGS})
            self.assertEqual(result.failed, 0, name)
            self.assertGreater(result.attempted, 0, name)


class Answers(unittest.TestCase):
    def setUp(self):
        self.model = bntt.load("runs/demo")
        self.images = tiny.images(tiny.TEST)

    def test_are_those_of_the_program_and_of_eval(self):
        self.images.tofile("frames")
        with open("frames", "rb") as frames:
            lines = subprocess.run([PROGRAM, "predict", "runs/demo", "-", "--json"], stdin=frames, check=True,
                                   capture_output=True, text=True).stdout.splitlines()
        told = numpy.array([json.loads(line)["logits"] for line in lines], numpy.float32)
        details = self.model.predict_details(self.images)
        numpy.testing.assert_array_equal(details.logits, told)
        self.assertEqual(details.spikes.tolist(), [json.loads(line)["spikes"] for line in lines])
        program("eval", "runs/demo", "--predictions", "all.csv")
        with open("all.csv", newline="") as file:
            rows = list(csv.reader(file))[1:]
        evaluated = numpy.array([row[6:] for row in rows], numpy.float32)
        numpy.testing.assert_array_equal(self.model.predict(self.images), evaluated)
        accuracy = 100 * numpy.mean([row[2] == row[3] for row in rows])
        self.assertAlmostEqual(bntt.evaluate("runs/demo")["accuracy"], accuracy)

    def test_do_not_depend_on_dtype_or_grouping(self):
        whole = self.model.predict(self.images)
        for dtype in (numpy.float32, numpy.float64):
            numpy.testing.assert_array_equal(self.model.predict(self.images.astype(numpy.float32) / 255), whole)
            self.assertEqual(self.model.predict((self.images / 255).astype(dtype)).shape, whole.shape)
        alone = [self.model.predict(self.images[i:i + 1], first_sample=i)[0] for i in range(tiny.TEST)]
        numpy.testing.assert_array_equal(alone, whole)

    def test_come_step_by_step(self):
        session = self.model.session(tiny.TEST)
        session.show(self.images)
        while not session.done:
            session.advance()
        numpy.testing.assert_array_equal(session.logits, self.model.predict_details(self.images).logits)
        session.restart()
        session.advance_spikes(self.model.encode(self.images))
        numpy.testing.assert_array_equal(session.logits, self.model.predict_details(self.images).logits)
        with self.assertRaisesRegex(bntt.Error, "all 3 steps are done"):
            session.advance()

    def test_come_with_the_voltages_that_lead_to_them(self):
        session = self.model.session(tiny.TEST)
        session.show(self.images)
        fired = self.model.outputs(self.images)["conv1"].dense()
        spec = self.model.network["stages"][0]["neuron"]
        for step in range(3):
            session.advance()
            voltages = session.membranes("conv1")
            self.assertEqual(voltages.shape, fired[step].shape)
            self.assertLessEqual(voltages[fired[step] == 0].max(), spec["threshold"])
        readout = session.membranes("fc2")
        numpy.testing.assert_array_equal(readout[:, 0, 0] * (numpy.float32(1) / numpy.float32(3)), session.logits)
        with self.assertRaisesRegex(bntt.Error, "no stage is called 'conv9', expected one of conv1"):
            session.membranes("conv9")

    def test_are_the_same_in_two_threads(self):
        whole = self.model.predict(self.images)
        wrong = []

        def use():
            for _ in range(10):
                session = self.model.session(tiny.TEST)
                session.show(self.images)
                session.advance(3)
                if not (session.probabilities == whole).all() or not (self.model.predict(self.images) == whole).all():
                    wrong.append(True)

        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_leave_other_python_code_running(self):
        many = numpy.concatenate([self.images] * 200)
        thread = threading.Thread(target=self.model.predict_details, args=(many,))
        thread.start()
        turns = 0
        while thread.is_alive():
            turns += 1
            time.sleep(0.001)
        self.assertGreater(turns, 20)


class Refusals(unittest.TestCase):
    def refused(self, samples, sentence):
        with self.assertRaisesRegex(bntt.Error, sentence):
            bntt.load("runs/demo").predict(samples)

    def test_have_a_sentence(self):
        images = tiny.images(4)
        self.refused(images[0], "expected 4 axes")
        self.refused(images[:, ::2], "not contiguous")
        self.refused(images.astype(numpy.int32), "dtype int32, expected uint8")
        self.refused(images.astype(numpy.float32), "expected floats from 0 to 1")
        self.refused(numpy.full((1, 12, 12, 1), numpy.nan, numpy.float32), "expected floats from 0 to 1")
        one_nan = numpy.full((1, 12, 12, 1), 0.5)
        one_nan[0, 6, 6] = numpy.nan
        self.refused(one_nan, "hold the value nan, expected floats from 0 to 1")
        self.refused(images[:, :6].astype(numpy.float32) / 255, "only images of uint8 are brought")
        self.refused(images[:0], "at least one")
        self.refused(None, "expected an array of numbers")
        self.assertTrue(issubclass(bntt.Error, ValueError))
        with self.assertRaisesRegex(bntt.Error, "did you mean"):
            bntt.train("demo-fashion-mnits", "runs/none")
        with self.assertRaisesRegex(bntt.Error, "expected a dict"):
            bntt.train({"train": 3}, "runs/none")
        self.assertFalse(os.path.exists("runs/none"))


class Numbers(unittest.TestCase):
    def test_go_out_and_come_back(self):
        model = bntt.load("runs/demo")
        images = tiny.images(4)
        state = model.state_dict()
        state["fc2.weight"] = -state["fc2.weight"]
        changed = model.with_state_dict(state)
        numpy.testing.assert_array_equal(changed.predict_details(images).logits,
                                         -model.predict_details(images).logits)
        for wrong, sentence in ((lambda s: s.pop("fc2.weight"), "has no 'fc2.weight'"),
                                (lambda s: s.update(other=state["fc2.weight"]), "'other' is not a parameter"),
                                (lambda s: s.update({"fc2.weight": numpy.zeros((2, 2), numpy.float32)}), "shape"),
                                (lambda s: s.update({"fc2.weight": state["fc2.weight"].astype("f8")}), "float64")):
            copy = dict(state)
            wrong(copy)
            with self.assertRaisesRegex(bntt.Error, sentence):
                model.with_state_dict(copy)

    def test_are_shared_with_pytorch(self):
        import torch
        model = bntt.load("runs/demo")
        tensor = torch.from_numpy(tiny.images(4))
        self.assertEqual(_arrays.array_of(tensor, "tensor").ctypes.data, tensor.data_ptr())
        numpy.testing.assert_array_equal(model.predict(tensor), model.predict(tensor.numpy()))
        state = {name: torch.from_numpy(value) for name, value in model.state_dict().items()}
        numpy.testing.assert_array_equal(model.with_state_dict(state).predict(tensor), model.predict(tensor))
        with self.assertRaisesRegex(bntt.Error, "DLPack"):
            model.predict(torch.ones(1, requires_grad=True))

    def test_of_spikes_are_packed_or_dense(self):
        fired = numpy.random.default_rng(1).random((2, 3, 4, 5, 70)) < 0.3
        spikes = bntt.Spikes.from_dense(fired)
        numpy.testing.assert_array_equal(spikes.dense(), fired.astype(numpy.float32))
        self.assertEqual(spikes.packed.shape, (1, 2, 3, 4, 5, 2))
        bits = numpy.unpackbits(spikes.packed.view(numpy.uint8), axis=-1, bitorder="little")
        numpy.testing.assert_array_equal(bits[0, ..., :70], fired)
        again = bntt.Spikes.from_packed(spikes.packed, 70)
        numpy.testing.assert_array_equal(again.dense(), spikes.dense())
        with self.assertRaisesRegex(bntt.Error, "past the last channel|bit"):
            bntt.Spikes.from_packed(numpy.full((1, 1, 1, 1, 1, 1), 2**63, numpy.uint64), 10)
        with self.assertRaises(ValueError):
            spikes.packed[...] = 0


class Training(unittest.TestCase):
    def test_stops_and_goes_on_to_the_same_bytes(self):
        bntt.train(tiny.SETTINGS, "runs/whole", progress=False)
        steps = []

        def stop(event):
            if event["kind"] == "step":
                steps.append(event["step"])
            return len(steps) == 5

        stopped = bntt.train(tiny.SETTINGS, "runs/parts", progress=False, callbacks=[stop])
        self.assertEqual((stopped["finished"], stopped["step"]), (False, 5))
        self.assertTrue(bntt.train(out="runs/parts", resume=True, progress=False)["finished"])
        for name in ("checkpoint.safetensors", "best.safetensors", "metrics.jsonl"):
            whole = pathlib.Path("runs/whole", name).read_bytes()
            self.assertEqual(pathlib.Path("runs/parts", name).read_bytes(), whole, name)

    def test_keeps_its_settings_when_it_goes_on(self):
        bntt.train(tiny.SETTINGS, "runs/begun", progress=False)
        other = {**tiny.SETTINGS, "train": {"epochs": 3, "batch": 6, "learning_rate": 0.123}}
        with self.assertRaisesRegex(bntt.Error, "keeps its settings, but train.learning_rate"):
            bntt.train(other, "runs/begun", resume=True, progress=False)
        with self.assertRaisesRegex(bntt.Error, "runs/nothing: holds no run to resume"):
            bntt.train(out="runs/nothing", resume=True, progress=False)
        longer = bntt.train({"train": {"epochs": 4}}, "runs/begun", resume=True, progress=False)
        self.assertEqual((longer["finished"], longer["step"]), (True, 24))
        self.assertIn("epochs = 4", pathlib.Path("runs/begun/run.toml").read_text())
        started = bntt.train(tiny.SETTINGS, "runs/started", resume=True, progress=False)
        self.assertTrue(started["finished"])

    def test_shows_its_progress(self):
        text = io.StringIO()
        with redirect_stdout(text):
            bntt.train(tiny.SETTINGS, "runs/shown")
        self.assertRegex(text.getvalue(), r"epoch 3: loss [0-9.]+, accuracy [0-9.]+ %; validation")

    def test_hands_on_what_a_callback_raises(self):
        def broken(event):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            bntt.train(tiny.SETTINGS, "runs/broken", progress=False, callbacks=[broken])

    def test_ends_at_ctrl_c_with_a_checkpoint(self):
        code = ("import bntt, tiny\n"
                "s = {**tiny.SETTINGS, 'train': {'epochs': 100000, 'batch': 6}}\n"
                "try:\n"
                "  bntt.train(s, 'runs/long', progress=False, callbacks=[lambda e: print(e['kind'], flush=True)])\n"
                "except KeyboardInterrupt:\n"
                "  print('stopped')\n")
        self.interrupt(code)
        self.assertTrue(os.path.exists("runs/long/checkpoint.safetensors"))

    def test_ends_at_ctrl_c_within_a_callback_with_a_checkpoint(self):
        def interrupted(event):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            bntt.train(tiny.SETTINGS, "runs/interrupted", progress=False, callbacks=[interrupted])
        self.assertTrue(os.path.exists("runs/interrupted/checkpoint.safetensors"))

    def test_and_so_does_a_prediction(self):
        self.interrupt("import bntt, numpy, tiny\n"
                       "model = bntt.load('runs/demo')\n"
                       "images = numpy.concatenate([tiny.images(21)] * 5000)\n"
                       "try:\n"
                       "  print('begins', flush=True)\n"
                       "  model.predict_details(images)\n"
                       "except KeyboardInterrupt:\n"
                       "  print('stopped')\n")

    def interrupt(self, code):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out.splitlines()[-1], "stopped")


class Recordings(unittest.TestCase):
    def test_are_predicted_as_on_the_command_line(self):
        tiny.write_recordings("events")
        bntt.train({"preset": "nmnist", "model": {"width": 0.02, "steps": 4}, "train": {"epochs": 1, "batch": 4}},
                   "runs/events", data="events", progress=False)
        model = bntt.load("runs/events")
        counts = model.recording("events/Test/3/0.bin")
        told = json.loads(program("predict", "runs/events", "events/Test/3/0.bin", "--json"))
        details = model.predict_details(counts)
        numpy.testing.assert_array_equal(details.logits[0], numpy.array(told["logits"], numpy.float32))
        session = model.session()
        for frame in range(counts.shape[1]):
            session.advance_events(counts[:, frame])
        numpy.testing.assert_array_equal(session.logits, details.logits)
        self.assertEqual(bntt.dataset("nmnist", "events", frames=4).samples.shape, (20, 4, 34, 34, 2))


    def test_are_cut_into_bins_of_fixed_length(self):
        tiny.write_recordings("bins")
        settings = {"preset": "nmnist", "model": {"width": 0.02, "norm": "bn"}, "train": {"epochs": 1, "batch": 4},
                    "data": {"bin_us": 12500}}
        bntt.train(settings, "runs/bins", data="bins", progress=False)
        model = bntt.load("runs/bins")
        self.assertEqual(model.steps, 8)
        self.assertEqual(model.recording("bins/Test/3/0.bin").shape, (1, 8, 34, 34, 2))
        late = bytes([1, 1, 0x80 | 200000 >> 16, 200000 >> 8 & 0xFF, 200000 & 0xFF])
        long = pathlib.Path("bins/Test/3/0.bin").read_bytes() + late
        pathlib.Path("bins/Test/3/long.bin").write_bytes(long)
        with self.assertWarnsRegex(UserWarning, "long.bin lasts 17 bins of 12500 microseconds and is cut to"):
            model.recording("bins/Test/3/long.bin")
        with self.assertWarnsRegex(UserWarning, "1 recordings are longer than the network's 8 bins"):
            bntt.evaluate("runs/bins", data="bins")


class Stubs(unittest.TestCase):
    def test_name_everything_there_is(self):
        path = pathlib.Path(inspect.getfile(bntt)).with_name("_bntt.pyi")
        tree = ast.parse(path.read_text())

        def names(body):
            found = set()
            for node in body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    found.add(node.name)
                elif isinstance(node, ast.AnnAssign):
                    found.add(node.target.id)
            return found

        def public(thing):
            return {name for name in vars(thing) if not name.startswith("_")}

        self.assertEqual(names(tree.body) - {"__version__"}, public(_bntt))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name != "Error":
                self.assertEqual(names(node.body) - {"__init__"}, public(getattr(_bntt, node.name)), node.name)


if __name__ == "__main__":
    unittest.main()
