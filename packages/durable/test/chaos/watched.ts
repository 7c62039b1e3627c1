import type { Agent, Journal, Lease, SessionKey } from '@allium/core'
import type { Ledger } from '@allium/store'
import { type Kept, more, type Opened, stepNow, type Watch } from './scene.ts'

/** A store that notes who has what and who writes, with a place before each write and one behind it. */
export function watched(store: Opened, watch: Watch): Kept & Pick<Opened, 'events'> {
  const { sessions, runs, events } = store
  const writes = writing(watch)
  const { note } = watch
  const taken = (key: SessionKey, { token }: Lease, run = '', attempts = 1) =>
    note({ what: 'taken', session: key.sessionId, run, token, attempts })
  return {
    sessions: {
      ...sessions,
      async acquire(key, ms) {
        const acquired = await sessions.acquire(key, ms)
        if (acquired.lease !== undefined) taken(key, acquired.lease)
        return acquired
      },
      append: (lease, version, turn, options) =>
        writes('append', lease, turn.turnId, () => sessions.append(lease, version, turn, options)),
      checkpoint: (lease, version, turn) =>
        writes('checkpoint', lease, turn.turnId, () => sessions.checkpoint(lease, version, turn)),
    },
    runs: {
      ...runs,
      async add(run, options) {
        watch.reach('before add')
        const added = await runs.add(run, options)
        if (added.lease !== undefined) taken(added.run.key, added.lease, added.run.run, added.run.attempts)
        watch.reach('after add')
        return added
      },
      async claim(of) {
        note({ what: 'claiming' })
        const claimed = await runs.claim(of)
        for (const { run, lease } of claimed) taken(run.key, lease, run.run, run.attempts)
        note({ what: 'claimed' })
        return claimed
      },
      async record(lease, run, step) {
        await writes('record', lease, run, () => runs.record(lease, run, step))
        note({ what: 'recorded', step: step.id })
      },
      giveUp: (lease, run, why) => writes('giveUp', lease, run, () => runs.giveUp(lease, run, why)),
      markReported: (lease, run, code) => writes('told', lease, run, () => runs.markReported(lease, run, code)),
    },
    events: {
      ...events,
      async append(run, token, entries, options) {
        const write = () => events.append(run, token, entries, options)
        if (options?.end === true) watch.reach('before end')
        const logged = await writes('tell', { key: run.key, token }, run.turnId, write)
        const isEnd = options?.end === true && logged.undelivered === undefined
        if (isEnd) watch.reach('after end')
        if (isEnd) note({ what: 'ended', session: run.key.sessionId, run: run.turnId })
        return logged
      },
    },
    keyValue: store.keyValue,
    ledger: watchedLedger(store.ledger, watch),
    audit: watchedAudit(store.audit, watch),
  }
}

let count = 0

function writing({ note, reach }: Watch) {
  return async <T>(op: string, { key, token }: Pick<Lease, 'key' | 'token'>, run: string, write: () => Promise<T>) => {
    const about = { write: `${process.pid}:${++count}`, session: key.sessionId, run, token, op }
    reach(`before ${op}`)
    note({ what: 'writing', ...about })
    const result = await write()
    note({ what: 'written', ...about })
    reach(`after ${op}`)
    return result
  }
}

function watchedLedger(ledger: Ledger, { note, reach }: Watch): Ledger {
  return {
    ...ledger,
    async reserve(request) {
      const step = stepOf(request.id)
      reach('before reserve')
      note({ what: 'holding', step })
      const reservation = await ledger.reserve(request)
      if (reservation !== undefined) note({ what: 'held', step })
      reach('after reserve')
      return reservation
    },
    async settle(reservation, spent) {
      reach('before settle')
      await ledger.settle(reservation, spent)
      if (spent < more) note({ what: 'settled', step: stepOf(reservation.id) })
      reach('after settle')
    },
  }
}

/** The step of the model call that a reservation is for. */
function stepOf(reservation: string): string {
  const [, turn, place] = /^(.*):(\d+:\d+)(?:~.*)?$/.exec(reservation) ?? []
  return `${turn}:model:${place}`
}

function watchedAudit(audit: Kept['audit'], { reach }: Watch): Kept['audit'] {
  return {
    chainOf(tenant) {
      const chain = audit.chainOf(tenant)
      return {
        last: () => chain.last(),
        lines: () => chain.lines(),
        verifySealed: () => chain.verifySealed(),
        async appendAll(lines) {
          reach('before audit')
          const known = await chain.appendAll(lines)
          reach('after audit')
          return known
        },
        async append(line, key) {
          reach('before audit')
          const known = await chain.append(line, key)
          reach('after audit')
          return known
        },
      }
    },
  }
}

/** The agent, with places before, in and behind each step of its runs. */
export function stepping(agent: Agent, watch: Watch) {
  return {
    name: agent.name,
    formerNames: agent.formerNames,
    sessionNames: agent.sessionNames,
    version: agent.version,
    init: () => agent.init(),
    inspect: () => agent.inspect(),
    displayFor: (key: SessionKey) => agent.displayFor(key),
    session(options: Parameters<Agent['session']>[0]) {
      const session = agent.session(options)
      const [run, resume] = [session.run.bind(session), session.resume.bind(session)]
      session.run = ((input, given) => run(input, stepped(given, watch))) as typeof run
      session.resume = ((decisions, given) => resume(decisions, stepped(given, watch))) as typeof resume
      return session
    },
  }
}

function stepped<Options extends { journal?: Journal | undefined }>(given: Options | undefined, watch: Watch) {
  const { journal } = given ?? {}
  return journal === undefined ? given : { ...given, journal: watchedJournal(journal, watch) }
}

function watchedJournal(journal: Journal, { note, reach }: Watch): Journal {
  return {
    get lease() {
      return journal.lease
    },
    get takenOver() {
      return journal.takenOver
    },
    known: (id) => journal.known?.(id) ?? false,
    checkEnd: (turnId) => journal.checkEnd?.(turnId),
    async step(id, work, emit) {
      let ran = false
      reach('before step')
      const result = await journal.step(
        id,
        (emit: Parameters<typeof work>[0]) =>
          stepNow.run(id, async () => {
            ran = true
            note({ what: 'ran', step: id })
            const done = await work(emit)
            reach('step done')
            return done
          }),
        emit,
      )
      // Restate's: that of a store notes it itself.
      if (ran && journal.lease === undefined) note({ what: 'recorded', step: id })
      reach('step recorded')
      return result
    },
  }
}
