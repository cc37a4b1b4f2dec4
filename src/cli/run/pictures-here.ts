/**
 * Pictures of a run at a service. They are made on this machine, whose folders the command has listed, by the rules and
 * within the limits of the service.
 */
import { createHideFolders } from '../../answers/shown-problem.js';
import { picturesOf } from '../../annotate/picture-copies.js';
import type { JobSubmit, Model } from '../../client/lattice-client.js';
import { openImageAccess, type ImageLimits } from '../../execution/here/file-access.js';
import type { ExportSource } from '../../export/export-source.js';
import type { PictureSource } from '../../export/pictures.js';
import { OtherSpelling } from '../../files/other-spelling.js';
import { madePictures, type ChosenPictures } from '../../http/routes/jobs/picture-maker.js';
import { classesOfJob } from '../../http/routes/jobs/read-submission.js';
import { chosenPictures } from '../chosen-pictures.js';
import type { PictureFlags } from '../picture-flags.js';

/** Facts that the service has told of itself. */
interface Told {
  models: readonly Model[];
  limits: ImageLimits;
}

type ChosenOf = (classes: readonly string[]) => Promise<ChosenPictures[]>;

export class PicturesHere {
  readonly #chosenOf: ChosenOf;
  readonly #images: ReturnType<typeof openImageAccess>;
  readonly #imageRoots: string[];
  readonly #maxPixels: number;

  private constructor(chosenOf: ChosenOf, imageRoots: string[], limits: ImageLimits) {
    this.#chosenOf = chosenOf;
    this.#images = openImageAccess({ imageRoots, ...limits });
    this.#imageRoots = imageRoots;
    this.#maxPixels = limits.maxPixels;
  }

  /** Rejects with `UsageError` for a class that cannot be covered. */
  static async open(
    flags: PictureFlags,
    settings: Pick<JobSubmit, 'job_type' | 'model_name' | 'classes' | 'vehicle_types'>,
    imageRoots: string[],
    { models, limits }: Told,
  ): Promise<PicturesHere> {
    const modelName = settings.model_name ?? '';
    const chosenOf: ChosenOf = async (known) => {
      const catalogue = { classesOf: () => Promise.resolve(known) };
      const classes = await classesOfJob(settings, modelName, known, catalogue);
      return chosenPictures(flags, { modelName, classes }, catalogue);
    };
    await chosenOf(models.find(({ name }) => name === modelName)?.classes ?? []);
    return new PicturesHere(chosenOf, imageRoots, limits);
  }

  /** Rejects as `open`: the classes of some models are known when they have run. */
  async sources({ classes, pages, fileName }: ExportSource): Promise<PictureSource[]> {
    const { decodeImage, readImage } = this.#images;
    const [imageRoots, maxPixels] = [this.#imageRoots, this.#maxPixels];
    const hide = createHideFolders({ imageRoots, modelsDir: '', dataDir: '' });
    const spelling = new OtherSpelling(imageRoots);
    const chosen = await this.#chosenOf(classes);
    return chosen.map(({ look, isShown }) => ({
      ...{ pages, fileName, look, isShown },
      make: (path, found) => {
        const making = spelling
          .open(path, readImage)
          .then((bytes) => picturesOf({ bytes, decode: decodeImage, maxPixels }, found, look));
        return madePictures(making, hide);
      },
    }));
  }

  close(): Promise<void> {
    return this.#images.close();
  }
}
