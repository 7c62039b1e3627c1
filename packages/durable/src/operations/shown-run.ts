import type { CallCost, RunDescription, TimelineEntry } from '@allium/store'

/** The kind of a recorded step: the start of a run, a call, an effect of `ctx.once()`, or a steered message. */
export type StepKind = 'start' | 'model' | 'tool' | 'once' | 'steer' | 'other'

type StoredStep = Extract<TimelineEntry, { type: 'step' }>

/** A recorded step in the timeline of a run. */
export interface ShownStep extends StoredStep {
  readonly kind: StepKind
  /** The id of a tool call. */
  readonly callId?: string
  /** The call began, and its tool must not run twice. A later step without this field has its result. */
  readonly begin?: true
  /** Which claim of the run recorded it, counted from 1; 2 and more are takeovers and retries. */
  readonly claim: number
  /** The tokens of a model call, and its cost in USD. */
  readonly spent?: Omit<CallCost, 'step'>
}

export type ShownEntry = Exclude<TimelineEntry, StoredStep> | ShownStep

/** A run with its timeline. It has ids, codes and times, but no content. */
export interface ShownRun extends Omit<RunDescription, 'timeline' | 'calls'> {
  readonly timeline: readonly ShownEntry[]
}

export function shownRun({ calls = [], ...described }: RunDescription): ShownRun {
  const spentBy = new Map(calls.map(({ step, ...spent }) => [step, spent]))
  let claim = 0
  const timeline = described.timeline.map((entry): ShownEntry => {
    if (entry.type === 'claimed') claim++
    if (entry.type !== 'step') return entry
    const spent = spentBy.get(entry.step)
    return { ...entry, ...partsOf(entry.step, described.run.run), claim, ...(spent && { spent }) }
  })
  return { ...described, timeline }
}

/** Returns the parts of a step's id, such as `<run>:tool:<call>:1:begin`. The steps of a sub-agent have its path after the run's id. */
function partsOf(id: string, run: string): Pick<ShownStep, 'kind' | 'callId' | 'begin'> {
  const name = id.startsWith(run) ? id.slice(run.length) : id
  const [, kind = 'other', rest = ''] = /:(start|model|tool|once|steer)(?::(.*))?$/s.exec(name) ?? []
  if (kind !== 'tool') return { kind: kind as StepKind }
  const [, callId = rest, begin] = /^(.*?):\d+(:begin)?$/s.exec(rest) ?? []
  return { kind, callId, ...(begin !== undefined && { begin: true }) }
}
