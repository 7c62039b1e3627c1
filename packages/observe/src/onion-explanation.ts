import { oneLine } from './one-line.ts'
import { headingOf, unknownTurn } from './onion-heading.ts'
import type { OnionChange, OnionSpan, OnionTurn } from './onion-turn.ts'

/** Explains a turn in words: its outcome, each layer that changed or decided something, and the turns that belong to it. */
export function explainTurn(turnId: string, turn: OnionTurn | undefined, others: readonly OnionTurn[]): string {
  if (turn === undefined) return unknownTurn(turnId)
  const deeds = [...walk(turn.root, '')].flatMap(({ span, subject }) => deedsOf(span, subject))
  const sentences = deeds.length === 0 ? ['Every layer passed it on unchanged.'] : deeds
  return [headingOf(turn), ...belongsTo(turn), ...sentences, ...others.map(continuation)].join('\n')
}

function belongsTo({ rootTurnId, resumed }: OnionTurn): string[] {
  if (rootTurnId === undefined) return []
  return [`${resumed === true ? 'It continues' : 'It ran for'} the turn "${oneLine(rootTurnId)}".`]
}

function continuation({ turnId, agent, resumed, status }: OnionTurn): string {
  const what = resumed === true ? 'It continued in' : `The agent "${oneLine(agent)}" ran for it in`
  return `${what} the turn "${oneLine(turnId)}", ${status}.`
}

/** Returns what a layer did, as sentences; none if it passed the call on. */
function deedsOf(span: OnionSpan, subject: string): string[] {
  const inputChanges = (span.changed ?? []).filter(({ field }) => !resultFields.has(field))
  const layer = `"${oneLine(span.layer)}"`
  const list = inputChanges.map(
    ({ field, note }) => `${fieldNames[field] ?? field}${note === undefined ? '' : ` (${oneLine(note)})`}`,
  )
  const inputChangeLines =
    inputChanges.length === 0 ? [] : [`${layer} changed the ${list.join(', ')} of ${callOf(span, subject)}.`]
  const hasChangedResult = span.changed?.some(({ field }) => resultFields.has(field)) === true
  const deed = span.decision === 'changed' && !hasChangedResult ? undefined : describeSpan(span, subject)
  return deed === undefined ? inputChangeLines : [...inputChangeLines, deed]
}

/** Fields of a call's result, not of its input. */
const resultFields: ReadonlySet<string> = new Set<OnionChange['field']>(['text', 'toolCalls', 'result', 'output'])
const fieldNames: Partial<Record<OnionChange['field'], string>> = {
  args: 'arguments',
  maxSteps: 'maximum of steps',
  toolChoice: 'choice of tools',
  responseFormat: 'form of the answer',
}

function callOf({ scope }: OnionSpan, subject: string): string {
  return { turn: 'the turn', model: 'the model call', tool: `the call of "${oneLine(subject)}"` }[scope]
}

function* walk(span: OnionSpan, outer: string): Generator<{ span: OnionSpan; subject: string }> {
  const subject = span.subject ?? outer
  yield { span, subject }
  for (const child of span.children) yield* walk(child, subject)
}

function describeSpan(span: OnionSpan, subject: string): string | undefined {
  const { core, scope, decision, detail, entered } = span
  const what = callOf(span, subject)
  const actor = core
    ? { turn: 'The loop', model: `The model "${oneLine(subject)}"`, tool: `The tool "${oneLine(subject)}"` }[scope]
    : `"${oneLine(span.layer)}"`
  const why = detail === undefined ? '.' : `: ${oneLine(detail)}`
  switch (decision) {
    case 'passed':
      return undefined
    case 'changed':
      return `${actor} changed the result of ${what}.`
    case 'skipped':
      return `${actor} answered ${what} itself; nothing inside ran.`
    case 'retried':
      return `${actor} ran ${what} ${entered} times${detail === undefined ? '.' : `, after${why}`}`
    case 'recovered':
      return `${actor} answered in place of ${what}, which had failed${why}`
    case 'denied':
      return core ? `${actor} did not run, denied${why}` : `${actor} denied ${what}${why}`
    case 'suspended':
      return core ? `${actor} waits for a human.` : `${actor} let ${what} wait for a human.`
    case 'blocked':
      return `${actor} blocked the turn${scope === 'turn' ? '' : ` at ${what}`}${why}`
    case 'aborted':
      return core ? `${actor} was cut off by an abort${why}` : `${actor} aborted ${what}${why}`
    case 'failed':
      return `${actor} failed${core || scope === 'turn' ? '' : ` at ${what}`}${why}`
    case 'left':
      return `${actor} was abandoned by a layer outside it.`
    case 'running':
      return `${actor} is still running.`
  }
}
