import type { Act } from '../case.ts'
import { inOrder, type Outcome } from '../outcome.ts'
import { end, gone, leftAt } from './ends.ts'
import { type Answer, type Attempt, Fault, type Layer, outerOf, type Run } from './run.ts'
import { flow, forget, mayReset, reset, restart, textOf } from './stream.ts'

const none: Answer = { text: '', asks: [] }

/** From its next() on, nothing of the turn leaves until this layer has returned. */
export function holdTurn(run: Run, me: Layer): void {
  if (run.holders.size === 0) run.kept = [[]]
  run.holders.add(me)
  run.dropHeld = (holder) => dropHeld(run, holder)
}

export function takeInput(run: Run): void {
  if (run.history.length === 0) run.history.push({ role: 'user', text: 'hi' })
}

/** A new answer, for every layer of the turn. */
export function begin(run: Run, around: Attempt): void {
  for (let at: Attempt | undefined = around; at !== undefined; at = outerOf(at)) restart(at)
  ;(run.holders.size > 0 ? run.kept : run.answers).push([])
  run.answer = undefined
  run.together = undefined
  run.flushed = ''
}

/** A turn layer returns: what it held goes on, or the answer that it gives itself. Rule 5. */
export function turnReturned(run: Run, me: Layer): Answer {
  if (me.inner?.state !== 'succeeded') {
    if (me.output === undefined) {
      dropHeld(run, me)
      throw new Fault(`layer.${me.inner === undefined ? 'no_next' : 'no_result'} ${me.plan.name}`)
    }
    give(run, me, me.output)
  }
  release(run, me)
  return none
}

function release(run: Run, me: Layer): void {
  if (!run.holders.delete(me) || run.holders.size > 0) return
  // Readers cannot tell the answers of several steps apart that come at once: what takes one back takes back all.
  run.together = { answers: run.kept, messages: run.heldBack.splice(0) }
  if (run.kept.flat().length > 0) outermost(me.attempt).used = true
  run.answers.push(...run.kept)
  run.kept = []
}

function outermost(attempt: Attempt): Attempt {
  const outer = outerOf(attempt)
  return outer === undefined ? attempt : outermost(outer)
}

/** A layer that threw holds no more; what was held no reader sees, so it is nowhere. */
export function dropHeld(run: Run, me: Layer): void {
  if (!run.holders.delete(me)) return
  run.kept = [[]]
  for (let at: Attempt | undefined = me.attempt; at !== undefined; at = outerOf(at)) restart(at)
  run.output = undefined
  for (const message of run.heldBack) message.text = ''
  // What pipes outside still make of the end is an answer of its own.
  if (run.answer !== undefined && run.heldBack.includes(run.answer)) {
    run.answer = undefined
    run.flushed = ''
  }
}

/** The turn is answered without the core, or after it failed: what that had streamed does not count. */
function give(run: Run, me: Layer, text: string): void {
  takeInput(run)
  run.closeStep?.()
  if (run.answer?.asks !== undefined) {
    keepShown(run, run.answer)
    begin(run, me.attempt)
  } else if (me.attempt.used) reset(run, me.attempt)
  run.complete = true
  run.flushed = ''
  answers(run, text)
  if (text !== '') flow(run, me.attempt, text)
}

/** What pipes still said behind the last tools, before the layer that swallowed a failure says something else, has been seen. */
function keepShown(run: Run, answer: NonNullable<Run['answer']>): void {
  const shown = shownText(run)
  if (!run.complete || run.holders.size > 0 || shown === answer.text) return
  if (answer.text === '') run.history.push({ role: 'assistant', text: shown })
  else answer.text = shown
}

/** What left a turn layer, once the layers inside it have returned, is the answer. */
export function turnSaid(run: Run, out: readonly Parameters<typeof textOf>[0][number][]): void {
  const text = run.flushed + textOf(out)
  if (text !== run.output) answers(run, text)
}

/** `ctx.output = …` */
export function output(run: Run, me: Layer, act: Act & { do: 'output' }): void {
  const { inner, attempt, plan } = me
  if (gone(attempt) || leftAt(attempt) !== undefined || me.exited) return
  const own = `output of ${plan.name}`
  if (inner?.state !== 'succeeded') {
    me.output = act.what === 'own' ? own : `${me.output ?? ''}+`
    return
  }
  const before = run.output ?? ''
  // Behind the results of the last tools, where their step said nothing.
  if (run.complete && before === '' && run.answer?.asks !== undefined) run.answer = undefined
  const text = act.what === 'own' ? own : `${before}+`
  if (text === before) return
  if (text.startsWith(before)) flow(run, attempt, text.slice(before.length))
  else {
    if (run.flushed !== '' || (attempt.used && !mayReset(run, attempt))) {
      const error = new Fault(`stream.mismatch ${plan.name}`)
      end(run, 'failed', error)
      throw error
    }
    if (attempt.used) reset(run, attempt)
    flow(run, attempt, text)
  }
  answers(run, text)
}

function answers(run: Run, text: string): void {
  run.output = text
  const { answer, history } = run
  if (answer !== undefined) answer.text = text
  else if (text !== '') {
    history.push((run.answer = { role: 'assistant', text }))
    if (run.holders.size > 0) run.heldBack.push(run.answer)
  }
}

/** The history of a run that ended before its time. */
export function closeHistory(run: Run): void {
  const { ended, history } = run
  if (ended === undefined) return
  run.closeStep?.()
  for (const layer of [...run.holders]) dropHeld(run, layer)
  // Behind the results of tools whose step said nothing, what is said is a message of its own.
  const isSilent = run.complete && run.answer?.asks !== undefined && run.answer.text === ''
  if (isSilent && ended.kind !== 'blocked') run.answer = undefined
  if (ended.kind === 'blocked') retract(run)
  // Layers of the turn that had not returned yet would have changed it: the history has what was seen.
  else if (isThere(run.answer) && (run.answer.asks === undefined || run.complete)) answers(run, shownText(run))
  else if (!isThere(run.answer) && shownText(run) !== '') {
    run.output = shownText(run)
    history.push({ role: 'assistant', text: run.output, interrupted: true })
  }
}

/** An answer of which layers left nothing has no message. */
function isThere(answer: Run['answer']): answer is NonNullable<Run['answer']> {
  return answer !== undefined && (answer.text !== '' || answer.asks !== undefined)
}

function retract(run: Run): void {
  if (run.answer?.asks !== undefined) run.answers.push([])
  else {
    forget(run)
    if (run.answer !== undefined) run.answer.text = ''
  }
  run.output = undefined
}

const shownText = ({ answers }: Run) => textOf(answers.at(-1) ?? [])

export function outcomeOf(run: Run): Outcome {
  const { ended, stopped, state, heard, streamed, onces, calls, time } = run
  const status = ended?.kind ?? (stopped === undefined ? 'completed' : 'stopped')
  const cut = status === 'aborted' || status === 'failed'
  const unfinished = run.answer === undefined && !run.complete ? shownText(run) : ''
  return {
    status,
    why: ended?.error.label ?? stopped ?? '',
    text: cut ? unfinished || (run.output ?? shownText(run)) : (run.output ?? ''),
    shown: run.answers.map(textOf).join(''),
    history: run.history.filter(({ text, asks }) => text !== '' || asks !== undefined).map(line),
    calls: inOrder(calls),
    usage: run.physical,
    open: 0,
    state,
    heard: [...heard].sort(),
    streamed: [...streamed].sort(),
    once: onces,
    late: [...run.late].sort(),
    endedAt: time.now,
  }
}

const line = ({ role, text, asks = [], interrupted }: Run['history'][0]) =>
  [role, text, ...asks, ...(interrupted ? ['interrupted'] : [])].join(' | ')
