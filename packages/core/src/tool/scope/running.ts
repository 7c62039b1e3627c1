import { AlliumError } from '../../errors/allium-error.ts'
import { watch } from '../../errors/thenable.ts'
import type { NarrowCancel } from '../../onion/cancel.ts'
import type { AnyTool } from '../tool.ts'
import type { ToolAttempt } from './context.ts'
import { failedResult, type Outcome, returnedResult } from './outcome.ts'

/** Waits for a running tool. It ends when it settles, times out or is abandoned, whichever comes first. */
export function untilSettled(
  running: PromiseLike<unknown>,
  core: ToolAttempt,
  { timeout }: AnyTool,
  cancel: NarrowCancel,
  outcome: Outcome,
): void {
  const { lifecycle, session } = core.$turn
  const ms = timeout ?? session.agent.setup.toolTimeout
  let isOpen = true
  const close = () => {
    isOpen = false
    lifecycle.deadlines.remove(deadline)
    cancel.release()
    core.$work = undefined
  }
  const settle = (toResult: typeof returnedResult, value: unknown) => {
    if (!isOpen) return
    close()
    outcome.done(core, toResult(core, value))
  }
  core.$work = {
    abandon(reason) {
      if (!isOpen) return
      close()
      cancel.abort(reason)
      outcome.abandoned(core, reason)
    },
  }
  // After its timeout the tool's actions have no effect, and its result is dropped.
  const deadline = lifecycle.deadlines.add(ms, () => {
    const error = tooSlow(core, ms)
    core.$timedOut = true
    settle(failedResult, error)
    cancel.abort(new DOMException(error.message, 'TimeoutError'))
  })
  watch(
    running,
    (value) => settle(returnedResult, value),
    (error) => settle(failedResult, error),
  )
}

function tooSlow({ $call: { name } }: ToolAttempt, ms: number): AlliumError {
  const message = `The tool "${name}" took longer than ${ms} ms.`
  return new AlliumError('tool.timeout', message, { expose: true, details: { tool: name, ms } })
}
