import { oneLine } from './one-line.ts'
import { headingOf, unknownTurn } from './onion-heading.ts'
import type { OnionChange, OnionSpan, OnionTurn } from './onion-turn.ts'

/** A turn in words: how it ended, each layer that did something to it, and the turns that belong to it. */
export function explainTurn(turnId: string, turn: OnionTurn | undefined, others: readonly OnionTurn[]): string {
  if (turn === undefined) return unknownTurn(turnId)
  const deeds = [...walk(turn.root, '')].flatMap(({ span, subject }) => deedsOf(span, subject))
  const told = deeds.length === 0 ? ['Every layer let it pass.'] : deeds
  return [headingOf(turn), ...belongsTo(turn), ...told, ...others.map(goesOnIn)].join('\n')
}

function belongsTo({ rootTurnId, resumed }: OnionTurn): string[] {
  if (rootTurnId === undefined) return []
  return [`${resumed === true ? 'It goes on from' : 'It ran for'} the turn "${oneLine(rootTurnId)}".`]
}

function goesOnIn({ turnId, agent, resumed, status }: OnionTurn): string {
  const what = resumed === true ? 'It went on in' : `The agent "${oneLine(agent)}" ran for it in`
  return `${what} the turn "${oneLine(turnId)}", ${status}.`
}

/** What a layer did, as sentences; none where it let the call pass. */
function deedsOf(span: OnionSpan, subject: string): string[] {
  const asked = (span.changed ?? []).filter(({ field }) => !given.has(field))
  const layer = `"${oneLine(span.layer)}"`
  const list = asked.map(
    ({ field, note }) => `${words[field] ?? field}${note === undefined ? '' : ` (${oneLine(note)})`}`,
  )
  const before = asked.length === 0 ? [] : [`${layer} changed the ${list.join(', ')} of ${callOf(span, subject)}.`]
  const gave = span.changed?.some(({ field }) => given.has(field)) === true
  const deed = span.decision === 'changed' && !gave ? undefined : sentenceOf(span, subject)
  return deed === undefined ? before : [...before, deed]
}

/** What a call gave, and not what it asked for. */
const given: ReadonlySet<string> = new Set<OnionChange['field']>(['text', 'toolCalls', 'result', 'output'])
const words: Partial<Record<OnionChange['field'], string>> = {
  args: 'arguments',
  maxSteps: 'most steps',
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

function sentenceOf(span: OnionSpan, subject: string): string | undefined {
  const { core, scope, decision, detail, entered } = span
  const what = callOf(span, subject)
  const who = core
    ? { turn: 'The loop', model: `The model "${oneLine(subject)}"`, tool: `The tool "${oneLine(subject)}"` }[scope]
    : `"${oneLine(span.layer)}"`
  const why = detail === undefined ? '.' : `: ${oneLine(detail)}`
  switch (decision) {
    case 'passed':
      return undefined
    case 'changed':
      return `${who} changed what ${what} gave.`
    case 'skipped':
      return `${who} answered ${what} itself; nothing inside ran.`
    case 'retried':
      return `${who} ran ${what} ${entered} times${detail === undefined ? '.' : `, after${why}`}`
    case 'recovered':
      return `${who} gave an answer of its own where ${what} had failed${why}`
    case 'denied':
      return core ? `${who} did not run, denied${why}` : `${who} denied ${what}${why}`
    case 'suspended':
      return core ? `${who} waits for a human.` : `${who} let ${what} wait for a human.`
    case 'blocked':
      return `${who} blocked the turn${scope === 'turn' ? '' : ` at ${what}`}${why}`
    case 'aborted':
      return core ? `${who} was cut off by an abort${why}` : `${who} aborted ${what}${why}`
    case 'failed':
      return `${who} failed${core || scope === 'turn' ? '' : ` at ${what}`}${why}`
    case 'left':
      return `${who} was left behind by a layer outside it.`
    case 'running':
      return `${who} is still under way.`
  }
}
