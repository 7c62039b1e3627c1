import { AlliumError, type Clock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { CommandExecution, CommandRequest } from './command.ts'
import { failedCommand, invalidOption } from './errors.ts'
import { valueOfResult } from './results.ts'
import type { StepRetry } from './step-retry.ts'
import { textOfValue } from './values.ts'

/** The parameter of a step's function. */
export interface StepContext {
  /** Counts the attempts from 1. */
  readonly attempt: number
  /**
   * Pass it to the service that the step calls, so that a repeated step has its effect once. It is the same in every attempt, and if the step
   * is repeated because its process was lost.
   */
  readonly idempotencyKey: string
  /** Aborts when the step times out or the run is stopped. Pass it to everything that waits. */
  readonly signal: AbortSignal
}

export interface StepOptions {
  /** Whether and when a failed step runs again. @default it does not */
  retry?: StepRetry | undefined
  /** Most milliseconds of one attempt. `false` sets no limit. @default 30_000 */
  timeout?: number | false | undefined
}

const ofStep: KeysOf<StepOptions> = { retry: true, timeout: true }
const ofRetry: KeysOf<StepRetry> = { attempts: true, delay: true, maxDelay: true, when: true }

/** @throws AlliumError `options.invalid` */
export function stepRequest(
  name: string,
  fn: (step: StepContext) => unknown,
  options: StepOptions | undefined,
): CommandRequest {
  checkOptions(options, ofStep, `ctx.step("${name}")`, 'options.invalid')
  if (typeof fn !== 'function')
    throw invalidOption(`ctx.step("${name}") got no function. Write ctx.step("${name}", async () => { … }).`)
  const { retry, timeout = 30_000 } = options ?? {}
  checkRetry(name, retry)
  checkTimeout(`ctx.step("${name}")`, timeout)
  return {
    ...{ kind: 'step', name, args: { name }, retry },
    async execute({ ctx, clock, idempotencyKey }: CommandExecution) {
      const { attempt, signal } = ctx
      const run = (within: AbortSignal) => fn({ attempt, idempotencyKey, signal: within })
      const value = await limited(run, { what: `The step "${name}"`, timeout, signal, clock })
      return textOfValue(value, `The result of the step "${name}"`)
    },
    read(result) {
      if (result.isError === true) throw failedCommand(name, result)
      return valueOfResult(result)
    },
  }
}

function checkRetry(name: string, retry: StepRetry | undefined): void {
  const what = `The option retry of ctx.step("${name}")`
  checkOptions(retry, ofRetry, what, 'options.invalid')
  const { attempts = 3, delay = 250, maxDelay = 30_000, when = () => true } = retry ?? {}
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= 1000))
    throw invalidOption(`${what} takes attempts as a whole number from 1 to 1000, but ${attempts} was given.`)
  for (const [option, ms] of Object.entries({ delay, maxDelay }))
    if (!(typeof ms === 'number' && ms >= 0 && ms < Number.POSITIVE_INFINITY))
      throw invalidOption(`${what} takes ${option} as milliseconds from 0, but ${ms} was given.`)
  if (typeof when !== 'function')
    throw invalidOption(`${what} takes when as a function of the error, but ${typeof when} was given.`)
}

/** @throws AlliumError `options.invalid` */
export function checkTimeout(what: string, timeout: unknown): void {
  if (timeout === false || (typeof timeout === 'number' && timeout > 0 && timeout < Number.POSITIVE_INFINITY)) return
  throw invalidOption(`${what} takes timeout as milliseconds above 0, or false, but ${String(timeout)} was given.`)
}

interface Limit {
  readonly what: string
  readonly timeout: number | false
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Runs a function with a time limit. @throws AlliumError `tool.timeout` */
export async function limited<T>(
  run: (signal: AbortSignal) => T | Promise<T>,
  { what, timeout, signal, clock }: Limit,
): Promise<T> {
  if (timeout === false) return run(signal)
  const controller = new AbortController()
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeout, () => {
      const error = new AlliumError('tool.timeout', `${what} took longer than ${timeout} ms.`, { expose: true })
      // First, so that the reason is not what the function throws when it is aborted.
      reject(error)
      controller.abort(error)
    })
  })
  try {
    return await Promise.race([run(AbortSignal.any([signal, controller.signal])), late])
  } finally {
    cancel()
  }
}
