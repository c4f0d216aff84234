package io.orbitkv.manager.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** What went wrong with a file, in words: Java's own message is often no more than its path. */
public final class FileTrouble {
  private FileTrouble() {}

  /** The words, without the file's name. */
  public static String text(IOException trouble) {
    return switch (trouble) {
      case NoSuchFileException _ -> "there is no such file or folder";
      case AccessDeniedException _ -> "this user may not";
      case FileAlreadyExistsException _ -> "a file of this name is there already";
      case NotDirectoryException _ -> "it is no folder";
      case DirectoryNotEmptyException _ -> "the folder is not empty";
      case FileSystemLoopException _ -> "its links go round in a circle";
      case CharacterCodingException _ -> "it is no text in UTF-8";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> message(trouble);
    };
  }

  private static String message(IOException trouble) {
    String message = trouble.getMessage();
    if (trouble.getCause() instanceof IOException cause
        && (message == null || message.equals(cause.toString()))) {
      return text(cause);
    }
    return message == null || message.isBlank() ? "it cannot be read or written" : message;
  }
}
