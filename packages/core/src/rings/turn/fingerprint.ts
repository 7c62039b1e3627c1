import { AlliumError } from '../../errors/allium-error.ts'
import { withoutApprovals } from '../../messages/history.ts'
import { contentDigestOf, digestOf } from '../../seams/seal.ts'
import type { ModelAttempt } from '../model/context.ts'
import type { ToolAttempt } from '../tool/context.ts'

/** What a step was asked, as the first item that the journal keeps of it: digests, by what they are of. */
export interface Fingerprint {
  readonly type: 'step:asked'
  /** Where a replay asks otherwise, the run cannot go on. */
  readonly must: Readonly<Record<string, string>>
  /** Where it does here, it is told, and what is recorded stands. */
  readonly may?: Readonly<Record<string, string>>
}

export function isFingerprint(item: unknown): item is Fingerprint {
  return (item as { type?: unknown } | undefined)?.type === 'step:asked'
}

/** Of a model call: the model, and the conversation as it stands in the history, before layers have marked it. */
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
    // Earlier versions digested it in another way, as `conversation`, which is not compared any more.
    must: { model: call.model, history },
    may: { settings: given, 'tool definitions': tools },
  }
}

export async function toolFingerprint({ $call: { name } }: ToolAttempt, args: unknown): Promise<Fingerprint> {
  return { type: 'step:asked', must: { tool: name, arguments: await digestOf(args) } }
}

/** What differs, by name. */
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
