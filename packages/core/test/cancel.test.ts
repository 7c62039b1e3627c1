import { describe, expect, it } from 'vitest'
import { Cancel } from '../src/onion/cancel.ts'

describe('a cancellation scope', () => {
  it('tells each follower once, with the first reason', () => {
    const scope = new Cancel()
    const told: unknown[] = []
    for (const name of ['a', 'b', 'c']) scope.on((reason) => told.push([name, reason]))
    scope.abort('first')
    scope.abort('second')
    expect([told, scope.aborted, scope.reason]).toEqual([
      [
        ['a', 'first'],
        ['b', 'first'],
        ['c', 'first'],
      ],
      true,
      'first',
    ])
  })

  it('does not tell those that no longer follow', () => {
    const scope = new Cancel()
    const told: string[] = []
    const [a, b, c] = ['a', 'b', 'c'].map((name) => () => void told.push(name)) as [() => void, () => void, () => void]
    for (const follower of [a, b, c]) scope.on(follower)
    scope.off(a)
    scope.off(c)
    scope.abort('now')
    expect(told).toEqual(['b'])
  })

  it('tells a follower at once if it is over already', () => {
    const scope = new Cancel()
    scope.abort('over')
    let told: unknown
    scope.on((reason) => (told = reason))
    expect(told).toBe('over')
  })

  it('has one signal, which is aborted with it, before and after it is read', () => {
    const [early, late] = [new Cancel(), new Cancel()]
    const { signal } = early
    early.abort('now')
    late.abort('now')
    expect([signal.reason, early.signal === signal, late.signal.reason]).toEqual(['now', true, 'now'])
  })

  it('is observed as long as its signal was read or it has a follower', () => {
    const follower = () => {}
    const other = () => {}
    const scope = new Cancel()
    const seen = [scope.isObserved]
    scope.on(follower)
    seen.push(scope.isObserved)
    scope.on(other)
    scope.off(follower)
    seen.push(scope.isObserved)
    scope.off(other)
    seen.push(scope.isObserved, scope.signal.aborted, scope.isObserved)
    expect(seen).toEqual([false, true, true, false, false, true])
  })
})

describe('a nested scope', () => {
  it('is cancelled with the outer one, or on its own', () => {
    const outer = new Cancel()
    const [first, second] = [outer.narrow(), outer.narrow()]
    first.abort('mine')
    outer.abort('all')
    expect([first.reason, second.reason]).toEqual(['mine', 'all'])
  })

  it('is detached once it is released, until its signal is read or it is followed', () => {
    const outer = new Cancel()
    const [released, read, followed] = [outer.narrow(), outer.narrow(), outer.narrow()]
    for (const scope of [released, read, followed]) scope.release()
    const told: unknown[] = []
    const { signal } = read
    followed.on((reason) => told.push(reason))
    outer.abort('all')
    expect([released.aborted, signal.reason, told]).toEqual([false, 'all', ['all']])
  })

  it('leaves nothing in the outer scope after its release', () => {
    const outer = new Cancel()
    const scope = outer.narrow()
    expect(outer.isObserved).toBe(true)
    scope.release()
    expect(outer.isObserved).toBe(false)
  })
})
