import { inputText } from '../store/input.ts'
import { useThread } from './thread-context.ts'

/** Returns a function that takes an unsent input out of the queue, and puts its text before the draft. */
export function useTakeBack(): (id: string) => void {
  const { session } = useThread()
  return (id) => {
    const input = session.removeQueued(id)
    if (input !== undefined) session.setDraft([inputText(input), session.draft].filter(Boolean).join('\n'))
  }
}
