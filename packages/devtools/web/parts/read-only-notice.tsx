import type { Conversation } from '../store/sessions.ts'

/** Explains why a session of the agent's own store cannot be continued, in place of the composer. */
export function ReadOnlyNotice({ conversation, copies }: { conversation: Conversation; copies: boolean }) {
  const { sealed, running, fault } = conversation
  if (fault !== undefined) return null
  if (sealed !== undefined)
    return (
      <p class="notice" role="note">
        <strong>Sealed.</strong> {`The content of this session cannot be opened (${sealed}). `}
        Create the store with <code>encrypt</code> in the agent's module to read it.
      </p>
    )
  return (
    <p class="notice" role="note">
      <strong>Read-only.</strong> This session is in the store of the agent. The audit has a record of this look.{' '}
      {running && 'A turn is running in another process. '}
      {copies ? (
        'Fork a turn, or edit a message, to continue in a copy in the inspector’s own store.'
      ) : (
        <>
          The store is encrypted. To copy sessions, export <code>encrypt</code> from the agent's module, so that the
          inspector's own store is encrypted too.
        </>
      )}
    </p>
  )
}
