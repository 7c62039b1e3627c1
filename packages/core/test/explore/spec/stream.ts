import type { Act } from '../case.ts'
import { type Answer, type Attempt, Fault, type Layer, outerOf, type Piece, type Run, type Transform } from './run.ts'

/*
 * Design §6. A piece enters the place of a layer (`flow` into the attempt that the layer opened), passes its transforms,
 * leaves it, and enters the place of the layer outside. Behind the outermost layer of the turn the reader sees it.
 */

/** A piece comes out of what runs inside an attempt. */
export function flow(run: Run, attempt: Attempt, piece: Piece): void {
  attempt.used = true
  run.flowedAt = run.time.now
  // Reading 6.
  if (run.ended !== undefined && hasPipe(attempt))
    for (const aspect of ['text', 'shown', 'history'] as const) run.open.add(aspect)
  push(run, attempt, 0, [piece])
}

function push(run: Run, attempt: Attempt, from: number, pieces: readonly Piece[]): void {
  const left = attempt.pipes.slice(from).reduce((all, pipe) => all.flatMap((piece) => pipe.push(piece)), pieces)
  for (const piece of left) leaves(run, attempt, piece)
}

function leaves(run: Run, attempt: Attempt, piece: Piece): void {
  attempt.out = [...attempt.out, piece]
  if (holdsBack(attempt)) attempt.held = [...attempt.held, piece]
  else outward(run, attempt, piece)
}

function outward(run: Run, attempt: Attempt, piece: Piece): void {
  const outer = outerOf(attempt)
  if (outer === undefined) show(run, piece)
  else flow(run, outer, piece)
}

/** A hold of a turn layer keeps the whole turn, behind the transforms of all layers. */
function holdsBack({ caller, call }: Attempt): boolean {
  return caller?.holds === true && call.scope === 'model'
}

const seen = (run: Run) => (run.holders.size > 0 ? run.kept : run.answers)

function show(run: Run, piece: Piece): void {
  const present = seen(run).at(-1)
  if (present?.length === 0) run.shownAt = run.time.now
  present?.push(piece)
}

/** Whether a pipe is between an attempt and the reader. */
export function passesPipe(attempt: Attempt): boolean {
  if (hasPipe(attempt)) return true
  const outer = outerOf(attempt)
  return outer !== undefined && passesPipe(outer)
}

const hasPipe = ({ caller }: Attempt) => caller?.transforms.some(({ do: what }) => what === 'pipe') === true

/** What its pipes hold back leaves when what feeds them is over, also by a failure; not when the run has ended. */
export function drain(run: Run, attempt: Attempt, failed: boolean): void {
  if (run.ended !== undefined) return
  // Reading 11.
  if (attempt.call.scope === 'turn' && !run.asked && !attempt.used) return
  attempt.pipes.forEach((pipe, i) => void push(run, attempt, i + 1, pipe.end(failed)))
}

/** Fresh transforms, and nothing said yet. */
export function restart(attempt: Attempt): void {
  attempt.used = false
  attempt.out = attempt.held = []
  attempt.pipes = (attempt.caller?.transforms ?? []).map(transformOf)
}

/** What has entered an attempt is void: up to a hold, pipes begin again; the reader is told. */
export function reset(run: Run, attempt: Attempt): void {
  const held = holdsBack(attempt)
  restart(attempt)
  const outer = outerOf(attempt)
  if (held) return
  if (outer === undefined) forget(run)
  else if (outer.used) reset(run, outer)
}

/** A reader forgets what is shown of the present answer, and of those that were shown at once with it. */
export function forget(run: Run): void {
  seen(run).at(-1)?.splice(0)
  const { together } = run
  if (run.holders.size > 0 || together === undefined) return
  for (const answer of together.answers) answer.splice(0)
  for (const message of together.messages) if (message !== run.answer) message.text = ''
}

/** What the next() of a layer gives: what left the layer, assembled. */
export function said(attempt: Attempt, answer: Answer): Answer {
  return { ...answer, text: textOf(attempt.out), asks: asksOf(attempt.out) }
}

/** A model layer returns an answer: it is in the stream already, or the rest is added, or it takes the place of what is held. */
export function say(run: Run, me: Layer, answer: Answer): Answer {
  const { attempt, inner } = me
  const before = inner?.state === 'succeeded' ? inner : undefined
  const same = before !== undefined && textOf(before.out) === answer.text && sameAsks(before, answer)
  if (before !== undefined && me.holds) {
    for (const piece of same ? before.held : piecesOf(answer)) flow(run, attempt, piece)
  } else if (before === undefined || (!same && !continues(before, answer))) {
    if (before !== undefined && attempt.used && !mayReset(run, attempt))
      throw new Fault(`stream.mismatch ${me.plan.name}`)
    if (attempt.used) reset(run, attempt)
    for (const piece of piecesOf(answer)) flow(run, attempt, piece)
  } else if (!same) flow(run, attempt, answer.text.slice(textOf(before.out).length))
  return answer
}

/** Whether a hold keeps what entered: what a pipe outside has taken counts as gone, whether it has passed it on or not. */
export function mayReset(run: Run, attempt: Attempt): boolean {
  const outer = outerOf(attempt)
  if (holdsBack(attempt)) return true
  if (outer === undefined) return run.holders.size > 0
  return mayReset(run, outer)
}

const continues = (before: Attempt, answer: Answer) =>
  answer.text.startsWith(textOf(before.out)) && sameAsks(before, answer)
const sameAsks = ({ out }: Attempt, { asks }: Answer) => asksOf(out).join() === asks.join()

export const textOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : '')).join('')
export const asksOf = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.asks]))
const piecesOf = ({ text, asks }: Answer): Piece[] => [
  ...(text === '' ? [] : [text]),
  ...asks.map((asks) => ({ asks })),
]

/** Each attempt gets fresh ones. */
function transformOf(act: Extract<Act, { do: 'map' | 'pipe' }>): Transform {
  if (act.do === 'pipe') return pipes[act.how]()
  const map = maps[act.how]
  return { push: (piece) => (typeof piece === 'string' ? map(piece) : [piece]), end: () => [] }
}

const maps = {
  double: (text: string) => [text, '-'],
  drop: (text: string) => (text.length % 2 === 0 ? [] : [text]),
  star: (text: string) => [`${text}*`],
}

const pipes: Record<Extract<Act, { do: 'pipe' }>['how'], () => Transform> = {
  pass: () => ({ push: (piece) => [piece], end: () => [] }),
  /** Joins each two texts. */
  pairs() {
    let kept: string | undefined
    const flush = () => {
      const all = kept === undefined ? [] : [kept]
      kept = undefined
      return all
    }
    return {
      push(piece) {
        if (typeof piece !== 'string') return [...flush(), piece]
        if (kept === undefined) {
          kept = piece
          return []
        }
        const both = kept + piece
        kept = undefined
        return [both]
      },
      end: flush,
    }
  },
  brackets() {
    let open = false
    const begin = () => {
      const first = open ? [] : ['[']
      open = true
      return first
    }
    return { push: (piece) => [...begin(), piece], end: () => [...begin(), ']'] }
  },
  /** Lets go of all it has once it knows how the stream ended. */
  verdict() {
    const kept: Piece[] = []
    return {
      push(piece) {
        kept.push(piece)
        return []
      },
      end: (failed) => (failed ? ['!'] : kept),
    }
  },
  /** Ends after its first text, and takes no more. */
  few() {
    let over = false
    return {
      push(piece) {
        if (over) return []
        over = typeof piece === 'string'
        return [piece]
      },
      end: () => [],
    }
  },
}
