import type { SessionStore } from '@allium/store'
import type { ManualClock } from '../../../src/index.ts'

/** What a store does wrong, in front of one that does right. */
export type Breaks = (store: SessionStore, clock: ManualClock) => Partial<SessionStore>

/** A fault that a store may have, and the case that must find it. */
export type Fault = readonly [fault: string, breaks: Breaks, found: string]
