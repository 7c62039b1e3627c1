// Compiled, never run: what the routes of a server may touch, by the records that they take.
import type { SessionKey } from '@allium/core'
import type { RunReader, StoreReader } from '../src/host/host.ts'
import type { approvalRoutes } from '../src/native/approvals.ts'
import type { controlRoutes } from '../src/native/control.ts'
import type { operatingWith } from '../src/operations/operating.ts'
import type { readRoutes } from '../src/operations/read-routes.ts'

declare const key: SessionKey
declare const reader: StoreReader & RunReader

// @ts-expect-error A route that reads sessions cannot delete one.
reader.sessions.delete(key)
// @ts-expect-error It cannot send a signal to a run either,
reader.events.signal({ key, turnId: '' }, { stop: true })
// @ts-expect-error nor start one.
reader.runs.start({})

declare const approvals: Parameters<typeof approvalRoutes>[1]

approvals.runs.start
// @ts-expect-error A decision starts a run, which stores it. The route itself stores nothing.
approvals.sessions.append

declare const control: Parameters<typeof controlRoutes>[1]

control.runs.stop
control.runs.steer
// @ts-expect-error Who stops or steers a run cannot change what is stored.
control.sessions.append
// @ts-expect-error A message is counted before it is sent.
control.events.signal

declare const operators: Parameters<typeof readRoutes>[1] & Parameters<typeof operatingWith>[0]

operators.cursors
// @ts-expect-error Operators of durable runs get no session of this server,
operators.sessions
// @ts-expect-error and none of its runs.
operators.runs
