import type { Journal } from '@allium/core'
import { memoryJournal, type Seals, sealedJournal } from '@allium/store/journal'
import { describe, expect, it } from 'vitest'
import { journalCases, journalConformance, type MakeJournal } from '../src/index.ts'

const inMemory: MakeJournal = () => {
  const journal = memoryJournal()
  return { journal, reopen: () => journal.reopen() }
}

const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a)
const seals: Seals = { seal: flip, open: flip }

const sealedInMemory: MakeJournal = () => {
  const journal = memoryJournal()
  return { journal: sealedJournal(journal, seals), reopen: () => sealedJournal(journal.reopen(), seals) }
}

journalConformance({ name: 'memoryJournal', makeJournal: inMemory, describe, it })
journalConformance({ name: 'sealedJournal', makeJournal: sealedInMemory, describe, it })

/** The claims that a journal breaks. */
async function broken(change: (journal: Journal) => Partial<Journal>): Promise<string[]> {
  const wrong = (journal: Journal): Journal => ({ ...journal, ...change(journal) })
  const makeJournal: MakeJournal = () => {
    const journal = memoryJournal()
    return { journal: wrong(journal), reopen: () => wrong(journal.reopen()) }
  }
  const names: string[] = []
  for (const { name, run } of journalCases(makeJournal)) await run().catch(() => names.push(name))
  return names
}

describe('journalConformance', () => {
  it('finds a journal that keeps nothing', async () => {
    const names = await broken(() => ({ step: (_, work, emit) => work(emit) }))
    expect(names).toHaveLength(7)
  })

  it('finds one that names steps by their order', async () => {
    const names = await broken((journal) => {
      let count = 0
      return { step: (_, work, emit) => journal.step(`${count++}`, work, emit) }
    })
    expect(names).toContain('finds steps by their ids, in any order')
  })

  it('finds one that records what was cancelled', async () => {
    const names = await broken((journal) => ({
      async step(id, work, emit) {
        const lived = async (keep: typeof emit) => {
          try {
            return await work(keep)
          } catch (error) {
            throw new Error('recorded', { cause: error })
          }
        }
        return journal.step(id, lived, emit)
      },
    }))
    expect(names).toContain('does not record a step that was cancelled with its run')
  })

  it('finds one that runs one step after the other', async () => {
    const names = await broken((journal) => {
      let tail: Promise<unknown> = Promise.resolve()
      return {
        step(id, work, emit) {
          const mine = tail.then(() => journal.step(id, work, emit))
          tail = mine.catch(() => {})
          return Promise.race([mine, late<never>(id)])
        },
      }
    })
    expect(names).toContain('records a step while others run')
  })
})

/** A step that waits for ever is a failure here. */
async function late<T>(id: string): Promise<T> {
  for (let i = 0; i < 5_000; i++) await undefined
  throw new Error(`The step "${id}" waits.`)
}
