import type { ReactNode } from 'react'
import { focusComposer } from './focus.ts'
import { useTakeBack } from './take-back.ts'
import { useThread } from './thread-context.ts'

/** Takes an unsent message back into the composer. */
export function EditUnsent({ id }: { id: string }): ReactNode {
  const { labels } = useThread()
  const takeBack = useTakeBack()
  return (
    <button
      type="button"
      className="allium-edit"
      onClick={(event) => {
        focusComposer(event.currentTarget)
        takeBack(id)
      }}
    >
      {labels.edit}
    </button>
  )
}
