import type { EventLog, RunSignal } from '@allium/store'
import { checkEqual, checkRejects } from '../check.ts'
import { type EventLogCases, eventsIn, run, steer, until } from './bench.ts'

const stop: RunSignal = { stop: true }

/** Cases: signals reach the run. */
export const signalCases: EventLogCases = {
  async 'delivers signals to a listener in order, including those sent before it started'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [])
    const parts: RunSignal = { steer: [{ type: 'image', data: Uint8Array.of(1), mediaType: 'image/png' }], id: 'b' }
    checkEqual(await other.signal(run, steer('a')), true, 'An active run accepts a signal')
    await other.signal(run, parts)
    const signals = await listen(log)
    await other.signal(run, steer('c'))
    await log.signal(run, stop)
    await until(bench, () => signals.length === 4, 'A listener receives all signals of its run')
    checkEqual(signals, [steer('a'), parts, steer('c'), stop], 'Signals arrive unchanged and in order')
  },

  async 'makes no signal wait for one that is not dealt with yet'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [])
    const signals = await listen(log, () => new Promise(() => {}))
    await other.signal(run, steer('a'))
    await other.signal(run, stop)
    await until(bench, () => signals.length === 2, 'A stop comes, though a steer before it is not heard yet')
  },

  async 'keeps unhandled signals for the next listener, and no others'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [])
    let deal = () => {}
    const late = new Promise<void>((resolve) => (deal = resolve))
    const first = await listen(log, ({ id }) => {
      if (id === 'dealt') return
      if (id === 'late') return late
      throw new Error('not now')
    })
    await other.signal(run, steer('dealt'))
    await until(bench, () => first.length === 1, 'A listener receives the signals of its run')
    await bench.wait(bench.eventRetention / 4) // a log may store the acknowledgment later
    for (const id of ['refused', 'late']) await other.signal(run, steer(id))
    await until(bench, () => first.length === 3, 'A listener receives all signals of its run')
    const second = await listen(other, () => new Promise(() => {}))
    await until(bench, () => second.length === 2, 'The next listener receives the unhandled signals')
    checkEqual(second, [steer('refused'), steer('late')], 'Handled signals are gone')
    deal()
    await other.signal(run, steer('new'))
    await until(bench, () => second.length === 3, 'The newest listener receives new signals')
    const third = await listen(log)
    await until(bench, () => third.length === 3, 'Signals that a replaced listener handles are not gone')
    checkEqual(first.length, 3, 'A run has one listener, the newest')
  },

  async 'tells a steer once, however often it is sent, and a stop again once one is dealt with'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [])
    await other.signal(run, stop)
    await other.signal(run, stop)
    await other.signal(run, steer('a'))
    const signals = await listen(log)
    await until(bench, () => signals.length === 2, 'A listener receives all signals of its run')
    checkEqual(await other.signal(run, steer('a')), true, 'A delivered steer may be sent again')
    // A log may store the acknowledgment of the first stop later.
    const again = async () => signals.length > 2 || !(await other.signal(run, stop))
    await until(bench, again, 'A stop after a stop is delivered')
    await other.signal(run, steer('b'))
    await until(bench, () => signals.some(({ id }) => id === 'b'), 'A steer after a stop is delivered')
    const steers = signals.filter(({ id }) => id !== undefined)
    checkEqual(steers, [steer('a'), steer('b')], 'A steer of a known id is not')
    checkEqual(signals.slice(0, 3), [stop, steer('a'), stop], 'Undelivered stops are delivered as one')
  },

  async 'delivers nothing to a closed listener, and keeps the signals'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [])
    const signals: RunSignal[] = []
    const off = await log.onSignal(run, (signal) => void signals.push(signal))
    off()
    await other.signal(run, steer('a'))
    const next = await listen(other)
    await until(bench, () => next.length === 1, 'Signals without a listener are kept')
    checkEqual([signals, next], [[], [steer('a')]], 'A closed listener receives nothing')
  },

  async 'accepts no signal for a run that has ended or was never opened'(bench) {
    const { log, other } = bench
    checkEqual(await other.signal(run, steer('early')), false, 'A run that was never opened accepts no signal')
    await checkRejects(
      (async () => await log.onSignal(run, () => {}))(),
      'store.fenced',
      'onSignal() of a run that was never opened',
    )
    await log.append(run, 1, [])
    const signals = await listen(log)
    await log.append(run, 1, [], { end: true })
    checkEqual(await other.signal(run, steer('late')), false, 'A run that has ended accepts no signal')
    await log.append(run, 2, [])
    await other.signal(run, steer('in time'))
    await until(bench, () => signals.length === 1, 'A continued run accepts signals again')
    checkEqual(signals, [steer('in time')], 'Rejected signals are not delivered later')
  },

  async 'returns undelivered steers to the process that ends the run, and does not end it yet'(bench) {
    const { log, other } = bench
    const { seq } = await log.append(run, 1, ['one'])
    await listen(log, () => Promise.reject(new Error('not now')))
    for (const signal of [steer('a'), stop, steer('b')]) await other.signal(run, signal)
    const given = await log.append(run, 1, ['end'], { end: true })
    checkEqual(given, { undelivered: [steer('a'), steer('b')] }, 'append() with an end returns the undelivered steers')
    const open = { turnId: run.turnId, seq, ended: false }
    checkEqual(await other.latest(run.key), open, 'The run has not ended, and nothing was appended')
    const { undelivered } = await log.append(run, 1, ['returned', 'end'], { end: true })
    checkEqual(undelivered, undefined, 'It ends once they are accepted')
    checkEqual(await eventsIn(bench, other), ['one', 'returned', 'end'], 'and its readers see all of it')
  },
}

/** Collects the signals that a listener receives. */
async function listen(
  log: EventLog,
  deal: (signal: RunSignal) => void | Promise<void> = () => {},
): Promise<RunSignal[]> {
  const signals: RunSignal[] = []
  await log.onSignal(run, (signal) => {
    signals.push(signal)
    return deal(signal)
  })
  return signals
}
