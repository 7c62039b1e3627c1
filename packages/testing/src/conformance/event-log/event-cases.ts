import type { LoggedEvent, RunKey } from '@allium/store'
import { check, checkEqual, checkRejects } from '../check.ts'
import { lookAlikes } from '../hostile-names.ts'
import { anything } from '../store/samples.ts'
import { chat, type EventLogCases, eventsIn, Reader, run, steer } from './bench.ts'

/** Cases: readers receive exactly the appended events. */
export const eventCases: EventLogCases = {
  async 'returns the appended events in order, and ends with the run'(bench) {
    const { log, other } = bench
    const events = [{ type: 'text-delta', delta: 'a\u0000👩‍👩‍👧' }, anything(), 'plain', 7]
    await log.append(run, 1, events.slice(0, 2))
    const { seq } = await log.append(run, 1, events.slice(2), { end: true })
    const read = await new Reader(bench, other).rest()
    checkEqual(
      read.map(({ event }) => event),
      events,
      'read() gives the events as they were appended',
    )
    checkEqual(read.at(-1)?.seq, seq, 'append() tells the seq of its last event')
    checkGrowing(read)
  },

  async 'returns the events after a position, the same ones each time and to each reader'(bench) {
    const { log, other } = bench
    for (const i of [0, 1, 2, 3, 4]) await log.append(run, 1, [{ i }], { end: i === 4 })
    const all = await new Reader(bench, log).rest()
    checkEqual(all.length, 5, 'read() gives all events')
    for (const [i, { seq }] of all.entries())
      for (const one of [log, other]) {
        const rest = await new Reader(bench, one, { after: seq }).rest()
        checkEqual(rest, all.slice(i + 1), `read() after ${seq} returns the rest, with unchanged seqs`)
      }
  },

  async 'keeps the events of an append together, each with its own seq, with many concurrent appends'(bench) {
    const { log, other } = bench
    const appends = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? log : other).append(run, 1, [`${i} a`, `${i} b`, `${i} c`]),
    )
    await Promise.all(appends)
    await log.append(run, 1, [], { end: true })
    const read = await new Reader(bench, other).rest()
    checkGrowing(read)
    const texts = read.map(({ event }) => String(event))
    const heads = texts.filter((text) => text.endsWith('a'))
    checkEqual(heads.length, 20, 'Each append arrives once')
    const together = heads.flatMap((text) => ['a', 'b', 'c'].map((name) => `${text.split(' ')[0]} ${name}`))
    checkEqual(texts, together, 'The events of one append are contiguous')
  },

  async 'keeps copies, and gives copies'(bench) {
    const { log } = bench
    const event = { list: [1], bytes: Uint8Array.of(1) }
    const appending = log.append(run, 1, [event], { end: true })
    event.list.push(2)
    event.bytes.fill(7)
    await appending
    const expected = [{ list: [1], bytes: Uint8Array.of(1) }]
    const [first] = (await eventsIn(bench, log)) as (typeof event)[]
    checkEqual([first], expected, 'The log stores the arguments of append()')
    first?.list.push(3)
    first?.bytes.fill(9)
    checkEqual(await eventsIn(bench, log), expected, 'A reader cannot change stored events')
  },

  async 'rejects events that it could not return, and stores none of them'(bench) {
    const { log, other } = bench
    await log.append(run, 1, ['one'])
    for (const wrong of [() => 1, new Date(Number.NaN), new Float32Array(1), Symbol('s')])
      await checkRejects(
        log.append(run, 1, ['with it', { wrong }], { end: true }),
        'state.invalid',
        `append() of ${String(wrong)}`,
      )
    await log.append(run, 1, ['two'], { end: true })
    checkEqual(
      await eventsIn(bench, other),
      ['one', 'two'],
      'A rejected append stores nothing, and does not end the run',
    )
  },

  async 'rejects events from a process that lost the run, and events of an ended run'(bench) {
    const { log, other } = bench
    const refused = (epoch: number, what: string) =>
      checkRejects(log.append(run, epoch, ['late'], { end: true }), 'store.fenced', `append() ${what}`)
    await log.append(run, 3, ['one'])
    await other.append(run, 5, [])
    await refused(3, 'in an epoch that another has followed')
    await refused(4, 'in an epoch before the newest')
    await other.append(run, 5, ['two'], { end: true })
    await refused(5, 'to a run that has ended')
    await refused(3, 'in an older epoch, after the end')
    checkEqual(await eventsIn(bench, log), ['one', 'two'], 'Rejected events are not stored')
    await log.append(run, 6, ['three'], { end: true })
    checkEqual(await eventsIn(bench, other), ['one', 'two', 'three'], 'A newer epoch continues, even after an end')
  },

  async 'has nothing of a run for who names it in another session'(bench) {
    const { log, other } = bench
    await log.append(run, 1, ['secret'], { end: true })
    const others = ['tenant', 'owner', 'agent', 'sessionId'].map(
      (field): RunKey => ({ ...run, key: { ...chat, [field]: 'x' } }),
    )
    for (const of of [...others, { ...run, turnId: 'chat:2' }, { ...run, turnId: '' }]) {
      checkEqual(await eventsIn(bench, other, of), [], `${JSON.stringify(of)} has no events, and read() ends at once`)
      checkEqual(await other.signal(of, { stop: true }), false, 'and takes no signal')
    }
    const runs = lookAlikes.flatMap(([a, b]): RunKey[] => [
      { key: { tenant: '', owner: a, agent: 'agent', sessionId: b }, turnId: 't' },
      { key: { tenant: '', owner: '', agent: `a${a}`, sessionId: b }, turnId: 't' },
    ])
    for (const [i, of] of runs.entries()) await log.append(of, 1, [i])
    for (const [i, of] of runs.entries()) {
      // Ended one by one: where a server's clock counts, a slow machine may not read all of them within `eventRetention`.
      await log.append(of, 1, [], { end: true })
      checkEqual(await eventsIn(bench, other, of), [i], `${JSON.stringify(of)} has only its own events`)
    }
  },

  async 'tells the run of a session that was opened last'(bench) {
    const { log, other } = bench
    checkEqual(await other.latest(chat), undefined, 'A session without a run has none')
    await log.append(run, 1, [])
    checkEqual(await other.latest(chat), { turnId: run.turnId, seq: 0, ended: false }, 'A run without events is open')
    const { seq } = await log.append(run, 1, ['one', 'two'])
    checkEqual(await other.latest(chat), { turnId: run.turnId, seq, ended: false }, 'latest() returns the position')
    await log.append(run, 1, [], { end: true })
    checkEqual(await other.latest(chat), { turnId: run.turnId, seq, ended: true }, 'and that it has ended')
    await log.append({ ...run, turnId: 'chat:2' }, 2, [])
    await log.append({ ...run, key: { ...chat, owner: 'bob' } }, 1, ['of bob'])
    await log.append({ ...run, key: { ...chat, agent: 'other' } }, 1, ['of another agent'])
    checkEqual((await other.latest(chat))?.turnId, 'chat:2', 'The next run is the latest, for this session only')
  },

  async 'keeps a run for a while after its end, and forgets it then'(bench) {
    const { log, other, eventRetention, wait } = bench
    const lasting: RunKey = { key: { ...chat, sessionId: 'lasting' }, turnId: 'lasting:1' }
    await log.append(lasting, 1, ['begun'])
    await log.append(run, 1, ['one'])
    await wait(eventRetention * 2)
    await log.append(run, 1, ['two'], { end: true })
    await wait(eventRetention / 2)
    checkEqual(await eventsIn(bench, other), ['one', 'two'], 'The retention starts at the end of the run')
    await wait(eventRetention)
    checkEqual(await eventsIn(bench, other), [], 'After its time a run has no events')
    checkEqual(await other.latest(chat), undefined, 'and is not the latest of its session')
    await log.append(lasting, 1, ['ended'], { end: true })
    checkEqual(await eventsIn(bench, other, lasting), ['begun', 'ended'], 'An active run is kept')
  },

  async 'deletes the runs of a session, and rejects later appends to them'(bench) {
    const { log, other } = bench
    const [earlier, next] = [
      { ...run, turnId: 'chat:0' },
      { ...run, key: { ...chat, sessionId: 'chat:next' } },
    ]
    await log.append(earlier, 1, ['earlier'], { end: true })
    for (const of of [run, next]) await log.append(of, 1, ['one'])
    const readers = [log, other].map((one) => new Reader(bench, one))
    await Promise.all(readers.map((reader) => reader.read(1)))
    const rest = readers.map((reader) => reader.rest())
    await other.delete(chat)
    checkEqual(await Promise.all(rest), [[], []], 'Readers of a deleted run end')
    for (const of of [run, earlier]) checkEqual(await eventsIn(bench, log, of), [], 'A deleted run has no events')
    checkEqual(await log.latest(chat), undefined, 'and is not the latest of its session')
    checkEqual(await log.signal(run, steer('late')), false, 'and takes no signal')
    await log.append(run, 1, ['two'], { mustExist: true }).catch(() => {})
    checkEqual(await eventsIn(bench, other), [], 'Later appends of its process are not stored')
    const again = { ...run, turnId: 'chat:2' }
    await checkRejects(
      log.append(again, 1, ['one'], { mustExist: true }),
      'store.fenced',
      'append() to a run that must exist',
    )
    checkEqual((await other.latest(next.key))?.seq, 1, 'Other sessions keep their runs')
    await log.append(again, 1, ['anew'], { end: true })
    checkEqual(await eventsIn(bench, other, again), ['anew'], 'A session with a deleted id starts from the beginning')
  },

  async 'deletes the runs of an owner or a tenant, and no others'(bench) {
    const { log, other } = bench
    const keyOf = ([tenant, owner, sessionId]: readonly string[]): RunKey => ({
      key: { tenant: tenant ?? '', owner: owner ?? '', agent: 'support', sessionId: sessionId ?? '' },
      turnId: 't',
    })
    const all = [
      ['acme', 'ann', '1'],
      ['acme', 'ann', '2'],
      ['acme', 'a*', '1'],
      ['acme', 'bob', '1'],
      ['acme2', 'ann', '1'],
    ].map(keyOf)
    for (const of of all) await log.append(of, 1, [of.key.owner], { end: true })
    const left = async () => {
      const seen = await Promise.all(all.map((of) => eventsIn(bench, log, of)))
      return seen.map((events) => events.length).join('')
    }
    await other.delete({ tenant: 'acme', owner: 'a*' })
    checkEqual(await left(), '11011', 'delete() of an owner deletes the runs of that owner alone')
    await other.delete({ tenant: 'acme' })
    checkEqual(await left(), '00001', 'delete() of a tenant deletes the runs of all its owners')
  },
}

function checkGrowing(events: readonly LoggedEvent[]): void {
  const seqs = events.map(({ seq }) => seq)
  const growing = seqs.every((seq, i) => Number.isSafeInteger(seq) && seq > (seqs[i - 1] ?? 0))
  check(growing, `The seqs of a run are increasing whole numbers, but were ${seqs.join(', ')}`)
}
