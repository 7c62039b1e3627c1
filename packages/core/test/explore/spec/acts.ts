import { type Act, ticks } from '../case.ts'
import { end, gone, reasonOf } from './ends.ts'
import { Fault, type Layer, type Place, type Run } from './run.ts'
import { output } from './turn.ts'
import { on, type Steps } from './virtual-time.ts'

type Return = Act & { do: 'return' }

/** The acts of a layer. Gives what it returns, where it says so. */
export function* perform(run: Run, me: Layer, acts: readonly Act[], path: string): Steps<Return | undefined> {
  for (const [i, act] of acts.entries()) {
    const here = `${path}.${i}`
    if (act.do === 'return') return act
    if (act.do === 'wait') yield* wait(run, me, lasts(me, act.for, here), act.deaf)
    else if (act.do === 'try') {
      const what = yield* attempted(run, me, act, here)
      if (what !== undefined) return what
    } else if (act.do === 'next') {
      me.given = undefined
      const result = me.next(act.within, here)
      const what = yield* perform(run, me, act.meanwhile ?? [], `${here}m`)
      if (what !== undefined) return what
      me.given = yield* on(result)
    } else if (act.do === 'later') {
      const steps = later(run, me, act, here)
      run.time.start(steps)
    } else if (act.do === 'once') yield* once(run, me, act)
    else verb(run, me, act, here)
  }
  return undefined
}

function* attempted(run: Run, me: Layer, act: Act & { do: 'try' }, here: string): ReturnType<typeof perform> {
  let what: Return | undefined
  try {
    what = yield* perform(run, me, act.acts, `${here}t`)
  } catch (error) {
    if (act.catch === undefined) throw error
    what = yield* perform(run, me, act.catch, `${here}c`)
  } finally {
    if (act.finally !== undefined) what = (yield* perform(run, me, act.finally, `${here}f`)) ?? what
  }
  return what
}

function* later(run: Run, me: Layer, act: Act & { do: 'later' }, here: string): Steps<void> {
  yield* on(run.time.after(lasts(me, act.after, here)))
  try {
    yield* perform(run, me, act.acts, `${here}l`)
  } catch {}
}

function* wait(run: Run, me: Layer, duration: number, deaf: true | undefined): Steps<void> {
  const cell = run.time.after(duration)
  const { place } = me.attempt
  if (deaf === undefined) {
    const reason = reasonOf(place)
    if (reason !== undefined) throw reason
    for (let at: Place | undefined = place; at !== undefined; at = at.outer) at.waiting.add(cell)
  }
  yield* on(cell)
}

/** What is said while its attempt lives counts; what a left or failed one tries is told, and has no effect. */
function verb(run: Run, me: Layer, act: Act, path: string): void {
  const { attempt, plan } = me
  const dead = gone(attempt)
  const tries = (name: string) => {
    if (dead && !run.over) run.late.add(`${plan.name} ${name}`)
    return !dead
  }
  const label = `${act.do} by ${plan.name}${path}`
  const write = !dead && !me.exited
  if (act.do !== 'state' && act.do !== 'emit') run.decides()
  switch (act.do) {
    case 'throw':
      throw new Fault(label)
    case 'state':
      if (!run.over) run.state[plan.name] = (run.state[plan.name] ?? 0) + 1
      return
    case 'emit':
      if (!run.over) run.heard.push(label)
      if (!run.over && !dead) run.streamed.push(label)
      return
    case 'stop':
      if (tries('stop') && !run.decided) run.stopped ??= label
      return
    case 'block':
    case 'abort': {
      if (!tries(act.do)) throw new Fault('layer.abandoned')
      const error = new Fault(label)
      end(run, act.do === 'block' ? 'blocked' : 'aborted', error)
      throw run.ended?.error ?? error
    }
    case 'deny':
      // Whether what a layer tries that has returned, in an attempt that lives, is told as late is open.
      if (me.exited && !dead) run.open.add('late')
      if (tries('deny') && !me.exited) attempt.call.denied ??= { text: label, asks: [], status: 'denied' }
      return
    case 'skip':
      if (tries('skipCall') && !me.exited) me.skip = { text: label, asks: [], status: 'skipped' }
      return
    case 'mark':
      if (write)
        attempt.fields = { ...attempt.fields, marks: [...attempt.fields.marks, `${plan.name}#${attempt.number}`] }
      return
    case 'use':
      if (write) attempt.fields = { ...attempt.fields, model: act.model }
      return
    case 'output':
      return output(run, me, act)
    case 'hold':
      me.holds = true
      return
    case 'map':
    case 'pipe':
      me.transforms.push(act)
  }
}

/** One run of a function for each key and turn, whoever began it; who joined one that failed runs its own. */
function* once(run: Run, me: Layer, act: Act & { do: 'once' }): Steps<void> {
  const { scope, key: call } = me.attempt.call
  const key = scope === 'tool' ? `${call}:${act.key}` : act.key
  for (;;) {
    const running = run.doing.get(key)
    if (running === undefined) break
    // Reading 13.
    for (const aspect of ['state', 'heard', 'streamed', 'once', 'late', 'endedAt'] as const) run.open.add(aspect)
    if (run.began.get(key) === run.time.now) run.openAll()
    const done = yield* on(running)
    run.shares()
    if (done) return
    if (run.doing.get(key) === running) run.doing.delete(key)
  }
  const cell = run.cell<boolean>()
  run.doing.set(key, cell)
  run.began.set(key, run.time.now)
  const n = run.onces[key] ?? 0
  if (!run.over) run.onces[key] = n + 1
  yield* on(run.time.after(ticks(act.takes, `once ${key} ${n}`)))
  const fails = n < (act.fails ?? 0)
  cell.resolve(!fails)
  if (fails) throw new Fault(`once ${key}`)
}

/** How long something takes that a layer does at one place of its acts. */
export function lasts({ attempt, plan, visit }: Layer, coarse: number, path: string): number {
  return ticks(coarse, `${attempt.call.key}/${plan.name}${path}/${visit}`)
}
