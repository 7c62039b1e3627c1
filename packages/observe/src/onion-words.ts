import { oneLine } from './one-line.ts'
import { headingOf, unknownTurn } from './onion-heading.ts'
import type { OnionSpan, OnionTurn } from './onion-turn.ts'

/** A turn in words: how it ended, and each layer that did something to it. */
export function explainTurn(turnId: string, turn: OnionTurn | undefined): string {
  if (turn === undefined) return unknownTurn(turnId)
  const deeds = [...walk(turn.root, '')].flatMap(({ span, subject }) => deed(span, subject) ?? [])
  return [headingOf(turn), ...(deeds.length === 0 ? ['Every layer let it pass.'] : deeds)].join('\n')
}

function* walk(span: OnionSpan, outer: string): Generator<{ span: OnionSpan; subject: string }> {
  const subject = span.subject ?? outer
  yield { span, subject }
  for (const child of span.children) yield* walk(child, subject)
}

/** What a layer did, as a sentence; nothing where it let the call pass. */
function deed(span: OnionSpan, subject: string): string | undefined {
  const { core, scope, decision, detail, entered } = span
  const what = { turn: 'the turn', model: 'the model call', tool: `the call of "${oneLine(subject)}"` }[scope]
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
