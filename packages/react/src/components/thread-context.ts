import { createContext, useContext } from 'react'
import type { ChatSession } from '../use-session.ts'
import { englishLabels, type Labels } from './labels.ts'

interface ThreadContext {
  readonly session: ChatSession
  readonly labels: Labels
}

export const ThreadProvider = createContext<ThreadContext | undefined>(undefined)

/** Returns the session of the enclosing `Thread`. @throws Error outside of a `Thread` */
export function useThread(): ThreadContext {
  const thread = useContext(ThreadProvider)
  if (thread === undefined) throw new Error('This component needs a <Thread session={…}> around it.')
  return thread
}

/** Returns the labels of the enclosing `Thread`, or English ones. */
export function useLabels(): Labels {
  return useContext(ThreadProvider)?.labels ?? englishLabels
}
