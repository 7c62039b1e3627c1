import { ticks, toolTimeout } from '../case.ts'
import { end, gone } from './ends.ts'
import { callOf, through } from './next.ts'
import { type Answer, type Attempt, Fault, outerOf, type Run } from './run.ts'
import { asksOf, drain, flow, restart, textOf } from './stream.ts'
import { begin, takeInput } from './turn.ts'
import { on, type Steps } from './virtual-time.ts'

/** The core of a turn, §5: a model call and the tools that it asked for, while it asks for any. */
export function* loop(run: Run, around: Attempt): Steps<Answer> {
  takeInput(run)
  run.output = undefined
  let text = ''
  let left = false
  for (let step = 0; run.stopped === undefined; step++) {
    if (step === 25) {
      run.stopped = 'max_steps'
      break
    }
    run.asked = true
    begin(run, around)
    const call = callOf(run, 'model', `m${step}`, around, (attempt) => model(run, attempt))
    let answer = yield* on(through(run, call))
    left = answer.asks.length > 0
    if (left) answer = flushed(run, around, answer)
    goesOn(run, around)
    text = answer.text
    commit(run, answer)
    if (answer.asks.length === 0) break
    yield* tools(run, around, answer.asks)
    goesOn(run, around)
  }
  if (left) {
    run.flushed = text
    for (let at: Attempt | undefined = around; at !== undefined; at = outerOf(at)) {
      const { used } = at
      restart(at)
      // Behind the results of tools it is another answer.
      at.used = used && run.answer?.asks === undefined
    }
  }
  run.output = text
  run.complete = true
  return { text, asks: [] }
}

/** The answer has left all layers of the turn before its tools run. */
function flushed(run: Run, around: Attempt, answer: Answer): Answer {
  let { out } = around
  for (let at: Attempt | undefined = around; at !== undefined; at = outerOf(at)) {
    drain(run, at, false)
    at.pipes = at.pipes.map(({ push }) => ({ push, end: () => [] }))
    out = at.out
  }
  return { ...answer, text: textOf(out), asks: asksOf(out) }
}

function commit(run: Run, { text, asks }: Answer): void {
  if (text === '' && asks.length === 0) return
  run.answer = { role: 'assistant', text, ...(asks.length > 0 && { asks: asks.map(idOf) }) }
  run.history.push(run.answer)
  if (run.holders.size > 0) run.heldBack.push(run.answer)
}

function goesOn(run: Run, around: Attempt): void {
  if (run.ended !== undefined) throw run.ended.error
  if (gone(around)) throw new Fault('layer.abandoned')
}

/** At most so many at once, each through its onion; results in the order of the calls. */
function* tools(run: Run, around: Attempt, asks: readonly string[]): Steps<void> {
  const results: (Answer | undefined)[] = []
  run.closeStep = () => {
    run.closeStep = undefined
    asks.forEach(
      (ask, i) => void run.history.push({ role: 'tool', text: `${idOf(ask)} ${results[i]?.text ?? 'Cancelled.'}` }),
    )
  }
  let taken = 0
  const worker = function* (): Steps<void> {
    for (let i = taken++; i < asks.length && run.ended === undefined && !gone(around); i = taken++)
      results[i] = yield* oneTool(run, around, asks[i] as string)
  }
  const workers = Array.from({ length: Math.min(asks.length, run.plan.toolConcurrency ?? 8) }, () =>
    run.time.start(worker()),
  )
  for (const one of workers) yield* on(one)
  if (!gone(around)) run.closeStep?.()
}

/** The ask is "name callId". */
const idOf = (ask: string) => ask.split(' ')[1] ?? ''

function* oneTool(run: Run, around: Attempt, ask: string): Steps<Answer | undefined> {
  const call = callOf(run, 'tool', `t${idOf(ask)}`, around, (attempt) => tool(run, attempt, ask.split(' ')[0] ?? ''))
  try {
    return yield* on(through(run, call))
  } catch (error) {
    if (!gone(around)) end(run, 'failed', error as Fault)
    return undefined
  }
}

/** The core of a model call: the model is found, then its stream flows, until its finish or until the attempt is over. */
function* model(run: Run, attempt: Attempt): Steps<Answer> {
  const { core, fields } = attempt
  const over = () => core?.outcome !== undefined
  const plan = run.plan.models[fields.model]
  if (plan?.found !== undefined) {
    yield* on(run.time.after(ticks(plan.found.after, `found ${fields.model} ${run.count(`found ${fields.model}`)}`)))
    if (plan.found.how === 'never') yield* on(run.cell())
    if (plan.found.how === 'fails') throw new Fault(`not found ${fields.model}`)
    if (over()) return nothing
  }
  const n = run.count(fields.model)
  const script = plan?.calls[Math.min(n, plan.calls.length - 1)]
  if (script === undefined) throw new Error(`No model ${fields.model}.`)
  run.physical++
  run.called(`${fields.model} ${fields.marks.join()}`)
  const wait = (coarse: number, i: number) => on(run.time.after(ticks(coarse, `${fields.model} ${n} ${i}`)))
  yield* wait(script.after, 0)
  for (const [i, chunk] of script.chunks.entries()) {
    if (over()) return nothing
    flow(run, attempt, chunk)
    yield* wait(script.gap, i + 1)
  }
  if (over()) return nothing
  if (script.end === 'hang') yield* on(run.cell())
  if (script.end === 'throw') throw new Fault(`${fields.model} fails`)
  if (script.end === 'cut') throw new Fault('model.truncated')
  for (const [i, asks] of (script.asks ?? []).entries())
    flow(run, attempt, { asks: `${asks} ${fields.model}-${n}-${i}` })
  return { text: textOf(attempt.out), asks: asksOf(attempt.out) }
}

const nothing: Answer = { text: '', asks: [] }

/** The core of a tool call: what it throws, or takes too long over, is a result for the model. */
function* tool(run: Run, attempt: Attempt, name: string): Steps<Answer> {
  const plan = run.plan.tools[name]
  const n = run.count(`tool ${name} ${attempt.call.key}`)
  const script = plan?.calls[Math.min(n, plan.calls.length - 1)]
  if (plan === undefined || script === undefined) throw new Error(`No tool ${name}.`)
  run.called(`${name} ${attempt.fields.marks.join()}`)
  const takes = ticks(script.takes, `${name} ${attempt.call.key} ${n}`)
  const limit = plan.timeout === undefined ? toolTimeout : plan.timeout * 2 ** 30
  if (script.end === 'hang' || takes > limit) {
    yield* on(run.time.after(limit))
    return { text: `${name} is late`, asks: [] }
  }
  yield* on(run.time.after(takes))
  if (script.end === 'throw') return { text: `The tool "${name}" failed.`, asks: [] }
  return { text: `${name}(${attempt.fields.marks.join()})`, asks: [] }
}
