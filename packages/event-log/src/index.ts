export { defer } from './defer.ts'
export { type Entry, type EntryContext, entryOf, openedEvent, type RunError, type RunEvent, toEntry } from './entry.ts'
export { Inbox } from './inbox.ts'
export { LogWriter } from './log-writer.ts'
