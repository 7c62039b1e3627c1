import { createContext, useContext } from 'react'
import type { ChatSession } from '../use-session.ts'
import { englishLabels, type Labels } from './labels.ts'

export const SessionContext = createContext<ChatSession | undefined>(undefined)

/** Separate from the session, so that messages do not render again with each change of it. */
export const LabelsContext = createContext(englishLabels)

/** Separate as well: the function stays the same while the session changes. */
export const EditContext = createContext<ChatSession['edit'] | undefined>(undefined)

/** Returns the function that edits a message; undefined outside of a `Thread`. */
export function useEdit(): ChatSession['edit'] | undefined {
  return useContext(EditContext)
}

/** Returns the session and the labels of the enclosing `Thread`. @throws Error outside of a `Thread` */
export function useThread(): { session: ChatSession; labels: Labels } {
  const session = useContext(SessionContext)
  const labels = useLabels()
  if (session === undefined) throw new Error('This component needs a <Thread session={…}> around it.')
  return { session, labels }
}

/** Returns the labels of the enclosing `Thread`, or English ones. */
export function useLabels(): Labels {
  return useContext(LabelsContext)
}
