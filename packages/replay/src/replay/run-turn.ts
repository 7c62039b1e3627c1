import type { Agent, Input, RunOptions, Usable } from '@allium/core'
import { ChangedLayers } from './changed-layers.ts'
import type { TurnToReplay } from './replay.ts'
import type { ReplayLayer } from './replay-layer.ts'
import { TurnReplay } from './turn-replay.ts'

/** Runs a recorded turn through the agent. The turn's own failure is a part of its outcome. */
export async function runTurn(
  { agent, layer, use }: { readonly agent: Agent; readonly layer: ReplayLayer; readonly use: readonly Usable[] },
  given: TurnToReplay,
): Promise<TurnReplay> {
  const { recorded, before, turnId } = given
  const turn = new TurnReplay(given, new ChangedLayers(recorded, agent.version))
  const { principal, context, task } = recorded
  const session = agent.session({
    ...(principal !== undefined && { principal: principal as never }),
    ...(context !== undefined && { context: context as never }),
  })
  layer.given = given
  await session.open()
  session.restore(before)
  layer.current = turn
  try {
    const { journal, signal, schedule } = turn
    const { clock } = schedule
    const options = { ...optionsOf(task, use), turnId, journal, clock, signal } as RunOptions
    schedule.begin()
    const run =
      task.decisions === undefined
        ? session.run(task.input as Input, options)
        : session.resume(task.decisions as never, options)
    addMoments(turn, run)
    await run.settled()
  } finally {
    turn.schedule.close()
    layer.current = undefined
    await session.close()
  }
  return turn
}

function optionsOf({ options }: TurnToReplay['recorded']['task'], use: readonly Usable[]): object {
  const { model, settings, maxSteps, onRetryAfterOutput, clientTools, output } = options
  return {
    ...(model !== undefined && { model }),
    ...(settings !== undefined && { settings }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(onRetryAfterOutput !== undefined && { onRetryAfterOutput }),
    ...(clientTools !== undefined && { clientTools }),
    ...(output !== undefined && { output: { jsonSchema: output } }),
    ...(use.length > 0 && { use }),
  }
}

/** Sends the messages again that were steered into the turn, and aborts it when it was aborted. */
function addMoments(turn: TurnReplay, run: ReturnType<ReturnType<Agent['session']>['run']>): void {
  const { steered = [], abort } = turn.recorded
  const moments = steered.map(({ message, ...at }) => ({
    ...at,
    happens() {
      run.steer(message as never).catch(() => {})
      return true
    },
  }))
  turn.schedule.add(moments)
  if (abort === undefined) return
  const { reason, during: _, ...at } = abort
  turn.schedule.add([{ ...at, happens: () => (turn.abort(reason), true) }])
}
