import { ServiceError } from '../../client/service-error.js';
import { asked, detect, fault, model, wantsAllClasses } from './detection.js';

/** Buttons that mend what was refused. */
export function FaultActions({ onPick }: { onPick: () => void }) {
  const error = fault.value;
  const source = asked.value;
  const again = (): void => {
    if (source !== null) void detect(source);
  };
  const pointers = error instanceof ServiceError ? error.errors.map(({ pointer }) => pointer) : [];
  const isPassing = error instanceof ServiceError && error.isPassing;
  return (
    <>
      {pointers.some((pointer) => pointer?.startsWith('#/classes') === true) && (
        <button
          type="button"
          onClick={() => {
            wantsAllClasses.value = true;
            again();
          }}
        >
          Use all classes of the model
        </button>
      )}
      {model.value !== '' && (
        <button
          type="button"
          onClick={() => {
            model.value = '';
            again();
          }}
        >
          Use the default model
        </button>
      )}
      {isPassing ? (
        <button type="button" onClick={again}>
          Try again
        </button>
      ) : (
        <button type="button" onClick={onPick}>
          Choose a picture from the folders
        </button>
      )}
    </>
  );
}
