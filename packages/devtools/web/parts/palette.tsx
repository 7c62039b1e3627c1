import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Command, indexAfter, matching } from '../store/commands.ts'
import { type CommandTargets, commandsOf } from './commands-of.ts'

/** The command palette: a text field that filters commands. Arrow keys choose one, Enter runs it, Escape closes. */
export function Palette({ targets, close }: { targets: CommandTargets; close(): void }) {
  const commands = commandsOf(targets)
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState(0)
  useEffect(() => dialog.current?.showModal(), [])
  const found = matching(commands, query)
  const index = Math.min(chosen, found.length - 1)
  useLayoutEffect(() => {
    list.current?.children[index]?.scrollIntoView({ block: 'nearest' })
  }, [index, query])

  const run = (command: Command | undefined) => {
    if (command === undefined) return
    // Closing gives the focus back. The command may move it.
    dialog.current?.close()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = indexAfter(event.key, index, found.length)
    if (next !== undefined) setChosen(next)
    else if (event.key === 'Enter' && !event.isComposing) run(found[index])
    else return
    event.preventDefault()
  }
  return (
    <dialog ref={dialog} class="palette" onClose={close} aria-label="Commands">
      <input
        role="combobox"
        aria-label="Search commands"
        aria-expanded={found.length > 0}
        aria-controls="commands"
        aria-autocomplete="list"
        {...(index >= 0 && { 'aria-activedescendant': `command-${index}` })}
        placeholder="Sessions, views, principals, actions"
        spellcheck={false}
        maxLength={200}
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id="commands" role="listbox" aria-label="Commands" hidden={found.length === 0}>
        {found.map((command, at) => (
          <div
            key={at}
            id={`command-${at}`}
            role="option"
            aria-selected={at === index}
            class={at === index ? 'command selected' : 'command'}
            onClick={() => run(command)}
          >
            <span class="subject">{command.group}</span>
            <bdi class="name">{command.name}</bdi>
            {command.hint !== undefined && <bdi class="subject">{command.hint}</bdi>}
          </div>
        ))}
      </div>
      <p class="empty" role="status">
        {found.length === 0 ? 'No command matches.' : ''}
      </p>
    </dialog>
  )
}
