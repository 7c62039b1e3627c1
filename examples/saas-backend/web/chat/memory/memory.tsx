import './memory.css'
import { useMemory } from '@allium/react/memory'
import { createMemoryClient } from '@allium/server/memory-client'
import { useEffect, useRef, useState } from 'react'
import { sentenceOf } from '../../shared/problems.ts'
import { ConfirmedButton } from './confirmed-button.tsx'
import { Conversations } from './conversations.tsx'
import { Notes } from './notes.tsx'
import { Switch } from './switch.tsx'

const client = createMemoryClient({ url: '/api' })

export interface MemoryProps {
  close(): void
  /** Called after a conversation was deleted; without an id, all were. */
  deleted(sessionId?: string): void
}

/** What the agents remember of the signed-in user, who can correct it, delete it, and switch it off. */
export function Memory({ close, deleted }: MemoryProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [news, setNews] = useState('')
  const remembered = useMemory({ client })
  const { memory, passages, isBusy, hasMore, error } = remembered
  useEffect(() => dialog.current?.showModal(), [])
  const report = (text: string, then?: () => void) => (isDone: boolean) => {
    setNews(isDone ? text : '')
    // The button that was pressed may be gone.
    if (isDone && !dialog.current?.contains(document.activeElement)) dialog.current?.focus()
    if (isDone) then?.()
  }
  return (
    <dialog ref={dialog} className="memory" tabIndex={-1} aria-labelledby="memory-title" onClose={close}>
      <header>
        <h2 id="memory-title">What we remember of you</h2>
        <button type="button" className="plain" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {memory === undefined && isBusy && <p className="quiet loading">Loading…</p>}
      {error !== undefined && !isBusy && (
        <div className="notice error" role="alert">
          <span>{sentenceOf(error as Error)}</span>
          <button type="button" className="plain" onClick={() => void remembered.reload()}>
            Load again
          </button>
        </div>
      )}
      {memory && (
        <>
          <Switch
            {...memory}
            set={(on) => void remembered.setOn(on).then(report(on ? 'Memory is on.' : 'Memory is off.'))}
          />
          {memory.blocks.map((block) => (
            <Notes
              key={block.name}
              of={block}
              isOn={memory.on}
              edit={(change) => void remembered.edit(block.name, change).then(report('Saved.'))}
              remove={() => void remembered.deleteBlock(block.name).then(report('Notes deleted.'))}
            />
          ))}
          <Conversations
            count={memory.passages}
            passages={passages}
            more={hasMore ? () => void remembered.loadMore() : undefined}
            remove={(id) =>
              void remembered.deleteConversation(id).then(report('Conversation deleted.', () => deleted(id)))
            }
          />
          <ConfirmedButton
            label="Delete everything"
            question="Delete all notes and all conversations?"
            act={() => void remembered.deleteAll().then(report('Everything was deleted.', deleted))}
          />
        </>
      )}
      <p className="quiet news" role="status">
        {news}
      </p>
    </dialog>
  )
}
