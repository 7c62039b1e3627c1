import type { CallTypes } from '@allium/core'
import { type ReactNode, useMemo } from 'react'
import type { ChatSession } from '../use-session.ts'
import { Announcer } from './announcer.tsx'
import { classNames } from './class-names.ts'
import { Composer } from './composer.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { englishLabels, type Labels } from './labels.ts'
import { Messages } from './messages.tsx'
import { Queue } from './queue.tsx'
import { Regenerate } from './regenerate.tsx'
import { EditContext, LabelsContext, SessionContext } from './thread-context.ts'

export interface ThreadProps<K extends CallTypes = CallTypes> {
  /** The session, from `useSession()`. */
  session: ChatSession<K>
  /** Texts that differ from the English ones. @default English texts */
  labels?: Partial<Labels> | undefined
  className?: string | undefined
  /** @default Messages, Regenerate, Queue, ErrorNotice and Composer */
  children?: ReactNode
}

/**
 * A chat with a session, without any styles. Screen readers announce the answer in whole sentences.
 *
 * @example
 * <Thread session={useSession({ client, sessionId })} />
 */
export function Thread<K extends CallTypes>({ session, labels, className, children }: ThreadProps<K>): ReactNode {
  const allLabels = useMemo(() => ({ ...englishLabels, ...labels }), [labels])
  return (
    // Components show calls of any tool.
    <SessionContext.Provider value={session as unknown as ChatSession}>
      <LabelsContext.Provider value={allLabels}>
        <EditContext.Provider value={session.edit}>
          <section
            className={classNames('allium-thread', className)}
            aria-label={allLabels.thread}
            data-allium-thread=""
            data-status={session.status}
          >
            {children ?? (
              <>
                <Messages />
                <Regenerate />
                <Queue />
                <ErrorNotice />
                <Composer />
              </>
            )}
            <Announcer />
          </section>
        </EditContext.Provider>
      </LabelsContext.Provider>
    </SessionContext.Provider>
  )
}
