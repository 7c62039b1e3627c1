import { AlliumError } from '../../errors/allium-error.ts'
import { withoutApprovals } from '../../messages/history.ts'
import { contentDigestOf, digestOf } from '../../ports/seal.ts'
import type { ModelAttempt } from '../model/context.ts'
import type { ToolAttempt } from '../tool/context.ts'

/** The fingerprint of a step's request: digests by name. It is the first item that the journal records for a step. */
export interface Fingerprint {
  readonly type: 'step:asked'
  /** If a replay differs in one of these, the run cannot continue. */
  readonly must: Readonly<Record<string, string>>
  /** If a replay differs in one of these, the drift is reported and the recorded result is used. */
  readonly may?: Readonly<Record<string, string>>
}

export function isFingerprint(item: unknown): item is Fingerprint {
  return (item as { type?: unknown } | undefined)?.type === 'step:asked'
}

/**
 * Returns the fingerprint of a model call: the model, and the conversation as it is in the history, before layers
 * change it.
 */
export async function modelFingerprint({ $call: call, $fields, $turn: turn }: ModelAttempt): Promise<Fingerprint> {
  const { settings, toolDefs, toolChoice, responseFormat } = $fields
  const { items } = turn.session.history
  const [history, given, tools] = await Promise.all([
    contentDigestOf(items.map(withoutApprovals)),
    digestOf({ settings, toolChoice, responseFormat }),
    digestOf(toolDefs),
  ])
  return {
    type: 'step:asked',
    // Earlier versions recorded another digest, named `conversation`. It is not compared any more.
    must: { model: call.model, history },
    may: { settings: given, 'tool definitions': tools },
  }
}

export async function toolFingerprint({ $call: { name } }: ToolAttempt, args: unknown): Promise<Fingerprint> {
  return { type: 'step:asked', must: { tool: name, arguments: await digestOf(args) } }
}

/** Returns the names of the digests that differ. */
export function differences(recorded: Fingerprint, now: Fingerprint): { must: string[]; may: string[] } {
  return { must: changed(recorded.must, now.must), may: changed(recorded.may, now.may) }
}

export function diverged(step: string, what: readonly string[]): AlliumError {
  return new AlliumError(
    'journal.diverged',
    `The step "${step}" differs from its recording: another ${what.join(', another ')}. Nothing was run. Put values that change between runs, such as times or random numbers, into ctx.once().`,
    { details: { step, differs: what } },
  )
}

function changed(a: Fingerprint['must'] = {}, b: Fingerprint['must'] = {}): string[] {
  return Object.keys(b).filter((name) => a[name] !== undefined && a[name] !== b[name])
}
