"""The guess at a run's GPU memory."""

from pathlib import Path

from test_verl_agent_prepare import settings

from echelon_rayworker.engines.verl_agent import memory
from echelon_rayworker.nodes import Look

MODEL = "actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B-Instruct"
SHARE = "actor_rollout_ref.rollout.gpu_memory_utilization=0.6"
ONE = "trainer.n_gpus_per_node=1"
PPO = ("algorithm.adv_estimator=gae", "critic.model.path=Qwen/Qwen2.5-1.5B-Instruct")
CARD = [Look("a", 1, devices=(("H100", 80 * 1024),))]


def test_policy_and_critic_of_ppo_do_not_fit_one_gpu_of_80_gib(tmp_path: Path):
    [alone] = memory.memory_answers(settings(tmp_path, MODEL, SHARE, ONE), CARD)
    assert alone.ok and "the policy" in alone.message
    [both] = memory.memory_answers(settings(tmp_path, MODEL, SHARE, ONE, *PPO), CARD)
    assert not both.ok and "policy and critic" in both.message
    offloaded = ("critic.model.fsdp_config.param_offload=True", "critic.model.fsdp_config.optimizer_offload=True")
    [less] = memory.memory_answers(settings(tmp_path, MODEL, SHARE, ONE, *PPO, *offloaded), CARD)
    assert less.ok


def test_adapters_need_no_moments_and_a_reference_on_the_gpus_needs_its_weights(tmp_path: Path):
    def gib(*overrides: str) -> float:
        guessed = memory.guess(settings(tmp_path, MODEL, ONE, *overrides))
        assert guessed is not None
        return round(guessed[0], 1)

    assert (gib(), gib("actor_rollout_ref.model.lora_rank=32")) == (22.4, 5.6)
    assert gib("actor_rollout_ref.actor.use_kl_loss=True") == 25.1
    assert gib("actor_rollout_ref.actor.use_kl_loss=True", "actor_rollout_ref.ref.fsdp_config.param_offload=True") == 22.4


def test_a_model_whose_name_does_not_state_its_size_gives_no_guess(tmp_path: Path):
    assert memory.guess(settings(tmp_path, "actor_rollout_ref.model.path=/models/mine")) is None
    assert memory.guess(settings(tmp_path, MODEL, *PPO[:1], "critic.model.path=/models/mine")) is None
