import type { Agent, Input, RunOptions, Usable } from '@allium/core'
import { ChangedLayers } from './changed-layers.ts'
import type { ReplayLayer } from './replay-layer.ts'
import { TurnReplay } from './turn-replay.ts'
import type { TurnToReplay } from './turn-to-replay.ts'

/** Runs a recorded turn through the agent. The turn's own failure is a part of its outcome. */
export async function runTurn(
  { agent, layer, use }: { readonly agent: Agent; readonly layer: ReplayLayer; readonly use: readonly Usable[] },
  given: TurnToReplay,
): Promise<TurnReplay> {
  const { recorded, before, turnId } = given
  const turn = new TurnReplay(given, new ChangedLayers(recorded, agent.version))
  const { principal, context, task } = recorded
  // Before the session is made, which gets the id of the recorded one.
  layer.given = given
  await agent.init()
  const session = agent.session({
    ...(principal !== undefined && { principal: principal as never }),
    ...(context !== undefined && { context: context as never }),
  })
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
    await run.then(undefined, (error: unknown) => {
      // It never began, so there is nothing to compare: an approval has expired, or the context no longer fits.
      if (turn.stored === undefined && turn.divergence === undefined) throw error
    })
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
  for (const { message, after, at } of steered) {
    const happens = () => {
      run.steer(message).catch(() => {})
      return true
    }
    // It was recorded when the layers read it, so it has to arrive before the step that ended last.
    if (after === 0) happens()
    else turn.schedule.add([{ after: after - 1, at, happens }])
  }
  if (abort === undefined) return
  const happens = () => {
    turn.abort(abort.reason)
    return true
  }
  turn.schedule.add([{ after: abort.after, at: abort.at, happens }])
}
