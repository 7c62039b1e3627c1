export { jsonOutput } from './json-output.ts'
export { type Entry, type EntryContext, entryOf, openedEvent, type RunError, type RunEvent } from './log/entry.ts'
export { Inbox } from './log/inbox.ts'
export { LogWriter } from './log/log-writer.ts'
