import { AlliumError } from '../errors/allium-error.ts'
import { contentDigestOf } from '../ports/content-digest.ts'

/** What a step works on, by name. */
export interface StepRequest {
  /** Recorded as they are. If a replay differs in one of these, the run cannot continue. */
  readonly names: Digests
  /** Recorded as digests, with the same effect. */
  readonly must: Readonly<Record<string, unknown>>
  /** If a replay differs in one of these, the drift is reported and the recorded result is used. */
  readonly may?: Readonly<Record<string, unknown>>
}

type Digests = Readonly<Record<string, string>>

/** The digests of a step's request. It is the first item that the journal records for a step. */
export interface Fingerprint {
  readonly type: 'step:input'
  readonly must: Digests
  readonly may?: Digests
}

export async function fingerprintOf({ names, must, may }: StepRequest): Promise<Fingerprint> {
  const [strict, tolerant] = await Promise.all([digestsOf(must), may && digestsOf(may)])
  const fingerprint: Fingerprint = { type: 'step:input', must: { ...names, ...strict } }
  return tolerant === undefined ? fingerprint : { ...fingerprint, may: tolerant }
}

async function digestsOf(values: StepRequest['must']): Promise<Digests> {
  const entries = Object.entries(values).map(async ([name, value]) => [name, await contentDigestOf(value)])
  return Object.fromEntries(await Promise.all(entries))
}

export function isFingerprint(item: unknown): item is Fingerprint {
  return (item as { type?: unknown } | undefined)?.type === 'step:input'
}

/** Returns the names of the digests that differ. */
export function differences(recorded: Fingerprint, now: Fingerprint): { must: string[]; may: string[] } {
  return { must: changed(recorded.must, now.must), may: changed(recorded.may, now.may) }
}

export function diverged(step: string, what: readonly string[]): AlliumError {
  return new AlliumError(
    'journal.diverged',
    `The step "${step}" differs from its recording: another ${what.join(', another ')}. Nothing was run. Put values that change, such as times, into ctx.once().`,
    { details: { step, differs: what } },
  )
}

function changed(a: Digests = {}, b: Digests = {}): string[] {
  return Object.keys(b).filter((name) => a[name] !== undefined && a[name] !== b[name])
}
