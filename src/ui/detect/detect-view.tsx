/** One picture, detected at once: chosen from the folders, dropped, pasted or named. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { tilesText } from '../../api/tiles.js';
import { photoOf, type PhotoFile } from '../../client/upload-calls.js';
import { ServiceError } from '../../client/service-error.js';
import { TileChoices } from '../options/option-fields.js';
import { Button } from '../parts/button.js';
import { lazy } from '../parts/lazy.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { discard, drawn, view } from '../regions/region-choice.js';
import { ViewSelect } from '../regions/view-select.js';
import { loadViews } from '../regions/views.js';
import { plural } from '../text/format.js';
import { AnswerView } from './answer-view.js';
import {
  allClasses,
  asked,
  choose,
  chosenModel,
  detect,
  detected,
  fault,
  followAddress,
  isBusy,
  model,
  offered,
  tiles,
  wantsAllClasses,
} from './detection.js';
import type { Source } from './detect-request.js';
import { DropZone } from './drop-zone.js';
import { MORE_ROWS, noMore } from './more-options.js';
import { PendingPicture } from './pending-picture.js';
import { Samples } from './samples.js';

/** Most visits bring one picture. */
const PhotoJob = lazy('Opening the photos', async () => {
  const { PhotoJob: loaded } = await import('./photo-job.js');
  return loaded;
});

/** Many visits drop a picture, or follow a link to one. */
const ImagePicker = lazy('Opening the folders', async () => {
  const { ImagePicker: loaded } = await import('../images/image-picker.js');
  return loaded;
});

/** Classes that a request gets without naming any, where the model has them. */
const VEHICLES = 4;

export function DetectView() {
  const isPicking = useSignal(false);
  const photos = useSignal<readonly PhotoFile[]>([]);
  const file = useRef<HTMLInputElement>(null);
  const onPhotos = (found: readonly PhotoFile[]): void => {
    photos.value = found;
  };
  useEffect(followAddress, []);
  useEffect(() => void loadViews(), []);
  const pick = (): void => {
    isPicking.value = true;
  };
  return (
    <DropZone
      onFile={(file) => detect({ kind: 'file', file })}
      onPhotos={onPhotos}
      onText={namePath}
    >
      <h1 class="hidden-heading">Detect in one picture</h1>
      <Controls file={file} onPick={pick} onPhotos={onPhotos} />
      <Progress />
      {photos.value.length > 0 && (
        <PhotoJob photos={photos.value} model={model.value} onClose={() => onPhotos([])} />
      )}
      {fault.value !== null && (
        <Problem error={fault.value}>
          <FaultActions onPick={pick} />
        </Problem>
      )}
      <Shown onPick={pick} onOpen={() => file.current?.click()} />
      {isPicking.value && (
        <ImagePicker
          title="Choose a picture"
          onClose={() => (isPicking.value = false)}
          onPick={([path]) => {
            isPicking.value = false;
            if (path !== undefined) namePath(path);
          }}
        />
      )}
    </DropZone>
  );
}

/** The progress of a detection, shown from its first moment to its end. */
function Progress() {
  return (
    <div
      class="progress"
      role={isBusy.value ? 'progressbar' : undefined}
      aria-label={isBusy.value ? 'Detecting' : undefined}
    />
  );
}

interface ShownProps {
  onPick: () => void;
  /** Opens pictures of this machine. */
  onOpen: () => void;
}

function Shown({ onPick, onOpen }: ShownProps) {
  const source = asked.value;
  const answer = detected.value;
  // When options change for the same picture, its boxes stay until the new ones come.
  const isOther = source !== null && !(answer !== null && isSame(source, answer.source));
  if (isBusy.value && isOther) return <PendingPicture source={source} />;
  if (answer === null) return <Samples onPick={onPick} onOpen={onOpen} />;
  return <AnswerView detected={answer} isOld={isBusy.value || fault.value !== null} />;
}

function isSame(one: Source, other: Source): boolean {
  if (one.kind === 'path') return other.kind === 'path' && one.path === other.path;
  return other.kind === 'file' && one.file === other.file;
}

function namePath(path: string): void {
  detect({ kind: 'path', path });
}

interface ControlsProps {
  file: RefObject<HTMLInputElement | null>;
  onPick: () => void;
  onPhotos: (photos: readonly PhotoFile[]) => void;
}

function Controls({ file, onPick, onPhotos }: ControlsProps) {
  const folder = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const source = asked.value;
  // The types of elements lack this attribute.
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), []);
  useEffect(() => {
    if (field.current !== null) field.current.value = source?.kind === 'path' ? source.path : '';
  }, [source]);
  useShortcuts('Detect', [
    { keys: '/', title: 'Name a picture', run: () => field.current?.focus() },
    { keys: 'b', title: 'Browse the folders', run: onPick },
    { keys: 'o', title: 'Open pictures of this machine', run: () => file.current?.click() },
  ]);
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const path = field.current?.value.trim() ?? '';
    if (path !== '') namePath(path);
    else if (source?.kind === 'file') detect(source);
    else onPick();
  };
  return (
    <form class="controls" onSubmit={onSubmit}>
      <div class="field path-field">
        <label for="path" class="hidden-label">
          Path of a picture in the image folders
        </label>
        <div class="joined">
          <Button icon="folder" onClick={onPick}>
            Browse
          </Button>
          <input
            ref={field}
            id="path"
            placeholder={source?.kind === 'file' ? source.file.name : 'Path in the image folders'}
            spellcheck={false}
            autocomplete="off"
          />
        </div>
      </div>
      <Button icon="upload" onClick={() => file.current?.click()}>
        Open file
      </Button>
      <Button icon="folder" onClick={() => folder.current?.click()}>
        Open folder
      </Button>
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder of this machine"
        onChange={({ currentTarget }) => {
          onPhotos([...(currentTarget.files ?? [])].map(photoOf));
          currentTarget.value = '';
        }}
      />
      <input
        ref={file}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Pictures of this machine"
        onChange={({ currentTarget }) => {
          const [picture, ...others] = currentTarget.files ?? [];
          if (others.length > 0) onPhotos([...(currentTarget.files ?? [])].map(photoOf));
          else if (picture !== undefined) detect({ kind: 'file', file: picture });
          currentTarget.value = '';
        }}
      />
      <ModelFields />
      <button class="primary" disabled={isBusy.value}>
        {isBusy.value ? 'Detecting' : 'Detect'}
      </button>
      <span class="hidden-label" role="status">
        {isBusy.value ? 'Detecting' : ''}
      </span>
    </form>
  );
}

function ModelFields() {
  const classes = new Set(chosenModel.value?.classes ?? []);
  return (
    <>
      {offered.value.length > 1 && (
        <select
          aria-label="Model"
          value={chosenModel.value?.name ?? ''}
          onChange={({ currentTarget }) => choose({ model: currentTarget.value })}
        >
          {offered.value.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <select
        aria-label="Tiles"
        title="Overlapping tiles of the picture are looked at too: smaller things are found, and it takes as long as so many pictures"
        value={tiles.value === 'off' ? '' : tilesText(tiles.value)}
        onChange={({ currentTarget }) => choose({ tiles: currentTarget.value })}
      >
        <TileChoices chosen={tilesText(tiles.value)} />
      </select>
      {classes.size > VEHICLES && (
        <select
          aria-label="Classes"
          value={wantsAllClasses.value ? 'all' : 'usual'}
          onChange={({ currentTarget }) => choose(allClasses(currentTarget.value === 'all'))}
        >
          <option value="usual">Vehicles</option>
          <option value="all">All {plural(classes.size, 'class', 'classes')}</option>
        </select>
      )}
      <ViewSelect
        label="View"
        value={view.value}
        isDrawn={drawn.value !== null}
        onPick={(name) => {
          discard();
          if (name !== view.peek()) choose({ view: name });
        }}
      />
    </>
  );
}

/** Buttons that correct a refused request. */
function FaultActions({ onPick }: { onPick: () => void }) {
  const error = fault.value;
  const source = asked.value;
  const again = (): void => {
    if (source !== null) detect(source);
  };
  const pointers = error instanceof ServiceError ? error.errors.map(({ pointer }) => pointer) : [];
  const isPassing = error instanceof ServiceError && error.isPassing;
  return (
    <>
      {pointers.some((pointer) => pointer?.startsWith('#/classes') === true) && (
        <Button onClick={() => choose(allClasses(true))}>Use all classes of the model</Button>
      )}
      {pointers.includes('#/view') && (
        <Button onClick={() => choose({ view: '' })}>Use no view</Button>
      )}
      {MORE_ROWS.some(({ wireName }) => pointers.some((each) => isOf(wireName, each))) && (
        <Button onClick={() => choose(noMore)}>Use none of the other options</Button>
      )}
      {model.value !== '' && (
        <Button onClick={() => choose({ model: '' })}>Use the default model</Button>
      )}
      {isPassing ? (
        <Button onClick={again}>Try again</Button>
      ) : (
        <Button onClick={onPick}>Choose a picture from the folders</Button>
      )}
    </>
  );
}

const isOf = (name: string, pointer = ''): boolean => pointer.split('/')[1] === name;
