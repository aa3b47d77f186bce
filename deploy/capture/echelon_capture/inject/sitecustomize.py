"""Installs the capture when a process uses a trainer of verl or verl-agent, and does nothing else.

`echelon-capture run` and `echelon-capture env` put this directory first on the PYTHONPATH. Every Python of the job executes this file at
its start, also an old one: it needs the standard library only and imports nothing before a trainer does. Another `sitecustomize`
further down the path is executed as it would be without this one.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
# Module → class, methods: the first call of one of them installs the hook. Importing the module does not.
_TRAINERS = {
    "verl.trainer.ppo.ray_trainer": ("RayPPOTrainer", ("__init__", "fit")),
    "verl.trainer.ppo.v1.trainer_base": ("PPOTrainer", ("__init__", "fit")),
    "recipe.hgpo.hgpo_ray_trainer": ("RayPPOTrainer", ("__init__", "fit")),
}
_ACTORS = {
    "verl.workers.engine_workers": ("TrainingWorker", ("__init__", "set_loss_fn")),
    "verl.workers.actor.dp_actor": ("DataParallelPPOActor", ("__init__", "update_policy")),
}


class _Finder(object):
    """Finds the modules above with the finders after it, and changes them once they are executed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "ray" and name not in _TRAINERS and name not in _ACTORS:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is _Finder else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                _guarded(lambda: _change_after(spec.loader, name))
                return spec
        return None


def _change_after(loader, name):
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        _guarded(lambda: _change(module, name))

    loader.exec_module = exec_module


def _change(module, name):
    if name == "ray":
        _wrap_init(module)
        return
    kind = "trainer" if name in _TRAINERS else "actor"
    owner, methods = (_TRAINERS if kind == "trainer" else _ACTORS)[name]
    owner = getattr(module, owner, None)
    own = {method: vars(owner)[method] for method in methods if owner is not None and method in vars(owner)}
    if not own:
        _capture().missing(kind, name)
    for method in own:
        setattr(owner, method, _first(owner, own, method, lambda: _capture().install(kind, name)))


def _first(owner, own, method, install):
    """A method that gives the class its own methods back, installs the hook, and then is the one it stands for."""
    import functools

    @functools.wraps(own[method])
    def called(self, *arguments, **keywords):
        for one in own:
            if getattr(vars(owner).get(one), "__wrapped__", None) is own[one]:
                setattr(owner, one, own[one])
        _guarded(install)
        return getattr(owner, method)(self, *arguments, **keywords)

    return called


def _wrap_init(ray):
    import functools

    init = ray.init

    @functools.wraps(init)
    def wrapped(*arguments, **keywords):
        if "verl" not in sys.modules:
            return init(*arguments, **keywords)
        changed = _guarded(lambda: _capture().prepared(keywords, _HERE))
        if changed is None:
            return init(*arguments, **keywords)
        keywords, restore = changed
        try:
            return init(*arguments, **keywords)
        finally:
            _guarded(restore)

    ray.init = wrapped


def _capture():
    """The package's module, without a change to the search path: the package may lie among those of another Python."""
    import importlib
    import importlib.util

    if "echelon_capture" not in sys.modules:
        place = os.path.dirname(_HERE)
        spec = importlib.util.spec_from_file_location(
            "echelon_capture", os.path.join(place, "__init__.py"), submodule_search_locations=[place]
        )
        package = importlib.util.module_from_spec(spec)
        sys.modules["echelon_capture"] = package
        try:
            spec.loader.exec_module(package)
        except BaseException:
            del sys.modules["echelon_capture"]
            raise
    return importlib.import_module("echelon_capture.injected")


def _guarded(action):
    """The action's result; None if it failed. The capture must never fail a training."""
    try:
        return action()
    except Exception as error:
        try:
            sys.stderr.write("echelon-capture: not installed: %s: %s\n" % (type(error).__name__, error))
        except Exception:
            pass
        return None


def _without_empty_entry():
    """Ray appends the PYTHONPATH of its node, which may be empty: an empty entry would be the working directory."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if entries[-1] == "" and len(entries) > 1:
        os.environ["PYTHONPATH"] = os.pathsep.join(entry for entry in entries if entry)
        for place in ("", os.getcwd()):
            if place in sys.path[1:]:
                del sys.path[sys.path.index(place, 1)]
                break


def _execute_next():
    """The `sitecustomize` that Python would have executed without this one; its errors are its own."""
    try:
        from importlib.machinery import PathFinder
        from importlib.util import module_from_spec

        others = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
        spec = PathFinder.find_spec("sitecustomize", others)
    except Exception:
        return
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("ECHELON_CAPTURE_HOOK") and sys.version_info >= (3, 10):
    _guarded(_without_empty_entry)
    sys.meta_path.insert(0, _Finder)
_execute_next()
