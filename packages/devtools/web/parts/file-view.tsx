import type { FileView as FileFacts } from '@allium/server/inspect'
import { useContext, useEffect, useState } from 'preact/hooks'
import { isPicture, shownName, size } from '../store/attachments.ts'
import { Files } from '../store/files.ts'

/** An image or a file of a message: pictures are shown, other files can be saved. Its name is text, never markup. */
export function FileView({ file }: { file: FileFacts }) {
  const load = useContext(Files)
  const [url, setUrl] = useState<string>()
  const [isMissing, setMissing] = useState(false)
  const isShown = isPicture(file)
  const name = shownName(file.filename ?? (file.type === 'image' ? 'Image' : 'File'))
  useEffect(() => {
    let isGone = false
    setUrl(undefined)
    setMissing(false)
    if (isShown)
      load(file).then(
        (loaded) => isGone || setUrl(loaded),
        () => isGone || setMissing(true),
      )
    return () => {
      isGone = true
    }
  }, [file.file, load])
  const save = async () => {
    try {
      saveAs(name, await load(file))
    } catch {
      setMissing(true)
    }
  }
  return (
    <figure class="file">
      {url !== undefined && <img src={url} alt={`${name}, ${size(file.bytes)}`} />}
      <figcaption>
        <bdi>{name}</bdi>
        <span class="subject">{`${file.mediaType}, ${size(file.bytes)}`}</span>
        <button type="button" class="quiet" aria-label={`Save ${name}`} onClick={() => void save()}>
          Save
        </button>
        {isMissing && <span class="subject">not in the store</span>}
      </figcaption>
    </figure>
  )
}

function saveAs(name: string, href: string): void {
  const link = Object.assign(document.createElement('a'), { href, download: name })
  link.click()
}
