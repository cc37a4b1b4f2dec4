import { createContext } from 'preact';

/**
 * The upload beneath which the paths of pictures are; undefined: they are beneath the image folders. Null while it is not
 * known: no picture is asked for.
 */
export const UploadOfPictures = createContext<string | null | undefined>(undefined);
